// The form for a rule's whole definition, new or changed.

import { Problem, registry } from "./client.js";
import { FUNCTIONS, OPERATORS, inWords } from "./definition.js";
import { button, choice, element, labelled, setText, toast } from "./dom.js";
import { FilterForm } from "./filter_form.js";
import { UNITS, fieldName, inUnits, operator } from "./format.js";
import { SOURCES, knownNames, offerNames } from "./known_names.js";
import { BLANK, TEMPLATES } from "./rule_templates.js";

const KEYS = ["payeeId", "beneficiaryId", "paymentType", "paymentAmount"];

export class RuleForm {
  /** `rule` is null for a new one; `onDone(rule)` is called with what the registry made of it. */
  constructor(rule, onDone) {
    Object.assign(this, { rule, onDone });
    this.name = element("input", { id: "rule-name", maxlength: 200, required: true, autocomplete: "off" });
    this.keys = KEYS.map((name) => {
      const box = element("input", { type: "checkbox", value: name });
      return { name, box, label: element("label", { class: "check" }, box, ` ${fieldName(name)}`) };
    });
    this.kind = choice(FUNCTIONS, { id: "rule-function", on: { change: () => this.adapt() } });
    this.field = choice([["paymentAmount", fieldName("paymentAmount")]], { id: "rule-field" });
    this.sign = choice(OPERATORS.map((each) => [each, operator(each)]), { id: "rule-operator" });
    this.limit = element("input", { id: "rule-limit", inputmode: "decimal", required: true, size: 12, autocomplete: "off" });
    this.limitSource = choice(SOURCES, { id: "rule-limit-source", on: { change: () => this.adapt() } });
    this.count = element("input", { id: "rule-window", type: "number", min: 1, step: 1, required: true });
    this.unit = choice(UNITS.map(([size, name]) => [size, `${name}s`]), { id: "rule-unit", "aria-label": "Unit of the window" });
    this.firing = choice([["every", "at each payment for which it holds"], ["crossing", "only when the limit is crossed"]], { id: "rule-firing" });
    this.late = choice([["evaluate", "are judged like any other"], ["store", "only count for later ones"]], { id: "rule-late" });
    this.reset = element("input", { type: "checkbox", id: "rule-reset" });
    this.since = element("input", { type: "datetime-local", step: 1, id: "rule-since" });
    this.filter = new FilterForm();
    this.words = element("p", { class: "rule-words" });
    this.error = element("p", { class: "error", role: "alert" });
    this.go = element("button", { class: "primary", type: "submit", id: "rule-publish" }, rule ? "Publish the new version" : "Publish");
    this.element = this.build();
    this.write(rule ? { ...BLANK, filter: null, ...rule.definition, name: rule.name } : BLANK);
  }

  build() {
    return element("form", { class: "rule-form", novalidate: true,
      on: { submit: (event) => { event.preventDefault(); this.send(); }, input: () => this.say(), change: () => this.say() } },
      this.rule ? null : element("div", { class: "templates", role: "group", "aria-label": "Templates" },
        TEMPLATES.map(({ title, definition }) => button(title, () => this.write(definition)))),
      at("name", labelled("Name", this.name)),
      element("fieldset", { class: "group", dataset: { field: "groupingKeyNames" } }, element("legend", {}, "Grouped by"),
        element("div", { class: "checks" }, this.keys.map((each) => each.label)),
        element("p", { class: "hint" }, "Nothing chosen: one group of all payments.")),
      element("div", { class: "row" }, at("aggregatorFunctionType", labelled("Aggregate", this.kind)),
        this.fieldPart = at("aggregateFieldName", labelled("of", this.field))),
      element("div", { class: "row" }, at("limitOperatorType", labelled("is", this.sign)), labelled("given as", this.limitSource), knownNames(), at("limit", labelled("Limit", this.limit)),
        at("windowSeconds", labelled("within", this.count)), element("div", { class: "field" }, element("span", { class: "field-name" }, "\u00a0"), this.unit)),
      this.filter.element,
      element("fieldset", { class: "group" }, element("legend", {}, "Firing"),
        element("div", { class: "row" }, at("firing", labelled("Fires", this.firing)), at("lateEvents", labelled("Late payments", this.late))),
        at("resetOnAlert", element("label", { class: "check" }, this.reset, " after an alert, count afresh for that group")),
        at("effectiveFrom", labelled("In force from (left open: now)", this.since))),
      this.words, this.error, element("div", { class: "dialog-end" }, this.go));
  }

  write(definition) {
    this.name.value = definition.name;
    for (const { name, box } of this.keys) box.checked = definition.groupingKeyNames.includes(name);
    this.kind.value = definition.aggregatorFunctionType;
    this.sign.value = definition.limitOperatorType;
    this.limitSource.value = definition.limit.parameter ? "parameter" : "number";
    this.limit.value = definition.limit.parameter ?? definition.limit;
    [this.count.value, this.unit.value] = inUnits(definition.windowSeconds);
    this.firing.value = definition.firing ?? "every";
    this.late.value = definition.lateEvents ?? "evaluate";
    this.reset.checked = Boolean(definition.resetOnAlert);
    this.filter.write(definition.filter ?? null);
    this.adapt();
    this.say();
  }

  adapt() {
    this.fieldPart.hidden = this.kind.value === "COUNT";
    offerNames(this.limit, this.limitSource.value === "parameter" ? "parameter" : null);
  }

  /** The definition as the registry takes it. What says nothing is left out. */
  read() {
    const counts = this.kind.value === "COUNT";
    const filter = this.filter.read();
    return {
      groupingKeyNames: this.keys.filter((each) => each.box.checked).map((each) => each.name),
      aggregatorFunctionType: this.kind.value,
      aggregateFieldName: counts ? null : this.field.value,
      limitOperatorType: this.sign.value,
      limit: this.limitSource.value === "parameter" ? { parameter: this.limit.value.trim() } : this.limit.value.trim().replaceAll(",", ""),
      windowSeconds: Number(this.count.value) * Number(this.unit.value),
      ...(filter === null ? {} : { filter }),
      firing: this.firing.value,
      lateEvents: this.late.value,
      ...(this.reset.checked ? { resetOnAlert: true } : {}),
    };
  }

  say() {
    try {
      const definition = this.read();
      const whole = this.limit.value.trim() !== "" && definition.windowSeconds > 0;
      setText(this.words, whole ? inWords(definition) : "");
    } catch {
      setText(this.words, "");
    }
  }

  async send() {
    this.mark([]);
    const missing = [[this.name, "name", "Give the rule a name."], [this.limit, "limit", "Give a limit."], [this.count, "windowSeconds", "Give a window."]]
      .filter(([input]) => !input.value.trim());
    if (missing.length) return this.mark(missing.map(([, field, message]) => ({ field, message })));
    this.go.disabled = true;
    try {
      const since = this.since.value ? { effectiveFrom: Date.parse(this.since.value) } : {};
      const body = { name: this.name.value.trim(), ...this.read(), ...since };
      const answer = this.rule
        ? await registry(`/rules/${this.rule.ruleId}`, { method: "PUT", body, version: this.rule.version })
        : await registry("/rules", { method: "POST", body });
      toast(`Published as version ${answer.body.version}. The engine takes it in a moment.`);
      this.onDone(answer.body);
    } catch (error) {
      if (error instanceof Problem && error.body.errors?.length) this.mark(error.body.errors);
      else if (error instanceof Problem && error.status === 412) setText(this.error, "Somebody else changed this rule meanwhile. Close, look at it, and change it again.");
      else setText(this.error, error.message);
    } finally {
      this.go.disabled = false;
    }
    return undefined;
  }

  /** Says at each field what is wrong with it; what has no field here is said at the end. */
  mark(errors) {
    for (const old of this.element.querySelectorAll(".field-error")) old.remove();
    for (const part of this.element.querySelectorAll(".wrong")) part.classList.remove("wrong");
    const rest = [];
    for (const { field, message } of errors) {
      const name = field.split(/[.[]/)[0];
      const part = this.element.querySelector(`[data-field="${CSS.escape(name === "windowMinutes" ? "windowSeconds" : name)}"]`);
      if (!part) rest.push(`${field}: ${message}`);
      else {
        part.classList.add("wrong");
        part.append(element("p", { class: "error field-error" }, message));
      }
    }
    setText(this.error, rest.join(" "));
    this.element.querySelector(".wrong input, .wrong select, .wrong textarea")?.focus();
  }
}

function at(field, node) {
  return element("div", { dataset: { field } }, node);
}
