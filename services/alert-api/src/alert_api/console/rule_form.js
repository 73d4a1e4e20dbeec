// The form for a rule's whole definition, new or changed.

import { Problem, registry } from "./client.js";
import { ConditionsForm } from "./conditions_form.js";
import { FUNCTIONS, OPERATORS, inWords } from "./definition.js";
import { button, choice, element, labelled, setText, toast } from "./dom.js";
import { FilterForm } from "./filter_form.js";
import { FiringForm } from "./firing_form.js";
import { UNITS, fieldName, fieldNames, inUnits, operator } from "./format.js";
import { SOURCES, knownNames, offerNames } from "./known_names.js";
import { BLANK, TEMPLATES } from "./rule_templates.js";

const KEYS = ["payeeId", "beneficiaryId", "paymentType", "paymentAmount"];
const MEASURES = ["paymentAmount"];
const SHAPES = [["one", "one condition"], ["several", "several conditions"]];

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
    this.field = choice([], { id: "rule-field" });
    this.sign = choice(OPERATORS.map((each) => [each, operator(each)]), { id: "rule-operator" });
    this.limit = element("input", { id: "rule-limit", inputmode: "decimal", required: true, size: 12, autocomplete: "off" });
    this.limitSource = choice(SOURCES, { id: "rule-limit-source", on: { change: () => this.adapt() } });
    this.count = element("input", { id: "rule-window", type: "number", min: 1, step: 1, required: true });
    this.unit = choice(UNITS.map(([size, name]) => [size, `${name}s`]), { id: "rule-unit", "aria-label": "Unit of the window" });
    this.shape = choice(SHAPES, { id: "rule-shape", on: { change: () => this.reshape() } });
    this.conditions = new ConditionsForm();
    this.several = element("div", {});
    this.filter = new FilterForm();
    this.firing = new FiringForm();
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
      labelled("The rule is", this.shape),
      this.single = element("div", { class: "rule-form" }, element("fieldset", { class: "group", dataset: { field: "groupingKeyNames" } }, element("legend", {}, "Grouped by"),
        element("div", { class: "checks" }, this.keys.map((each) => each.label)),
        element("p", { class: "hint" }, "Nothing chosen: one group of all payments.")),
      element("div", { class: "row" }, at("aggregatorFunctionType", labelled("Aggregate", this.kind)),
        this.fieldPart = at("aggregateFieldName", labelled("of", this.field))),
      element("div", { class: "row" }, at("limitOperatorType", labelled("is", this.sign)), labelled("given as", this.limitSource), at("limit", labelled("Limit", this.limit)),
        at("windowSeconds", labelled("within", this.count)), element("div", { class: "field" }, element("span", { class: "field-name" }, "\u00a0"), this.unit))),
      this.several,
      this.filter.element,
      this.firing.element, knownNames(),
      this.words, this.error, element("div", { class: "dialog-end" }, this.go));
  }

  write({ conditions = null, ...definition }) {
    this.name.value = definition.name;
    this.shape.value = conditions === null ? "one" : "several";
    this.conditions.write(conditions);
    // What a chained rule has not is there in case it becomes a plain one.
    if (conditions !== null) definition = { ...BLANK, ...definition };
    for (const { name, box } of this.keys) box.checked = definition.groupingKeyNames.includes(name);
    this.kind.value = definition.aggregatorFunctionType;
    this.sign.value = definition.limitOperatorType;
    this.limitSource.value = definition.limit.parameter ? "parameter" : "number";
    this.limit.value = definition.limit.parameter ?? definition.limit;
    [this.count.value, this.unit.value] = inUnits(definition.windowSeconds);
    this.filter.write(definition.filter ?? null);
    this.firing.write(definition);
    this.adapt();
    if (definition.aggregateFieldName) this.field.value = definition.aggregateFieldName;
    this.reshape();
    this.say();
  }

  /** Only what belongs to the shape is shown, and what is not shown is in nobody's way. */
  reshape() {
    this.single.hidden = this.isChained();
    this.several.replaceChildren(...(this.isChained() ? [this.conditions.element] : []));
    this.firing.ofSeveral(this.isChained());
  }

  isChained() {
    return this.shape.value === "several";
  }

  /** Different values are counted of any field that one can group by, the other aggregates are of amounts. */
  adapt() {
    const different = this.kind.value === "COUNT_DISTINCT";
    const before = this.field.value;
    const offered = different ? KEYS.map((name) => [name, fieldNames(name)]) : MEASURES.map((name) => [name, fieldName(name)]);
    this.field.replaceChildren(...offered.map(([value, text]) => element("option", { value }, text)));
    if (offered.some(([name]) => name === before)) this.field.value = before;
    setText(this.fieldPart.querySelector("label"), different ? "Different what" : "of");
    this.fieldPart.hidden = this.kind.value === "COUNT";
    offerNames(this.limit, this.limitSource.value === "parameter" ? "parameter" : null);
  }

  /** The definition as the registry takes it. What says nothing is left out. */
  read() {
    const counts = this.kind.value === "COUNT";
    const filter = this.filter.read();
    if (this.isChained()) return { conditions: this.conditions.read(), ...(filter === null ? {} : { filter }), ...this.firing.read() };
    return {
      groupingKeyNames: this.keys.filter((each) => each.box.checked).map((each) => each.name),
      aggregatorFunctionType: this.kind.value,
      aggregateFieldName: counts ? null : this.field.value,
      limitOperatorType: this.sign.value,
      limit: this.limitSource.value === "parameter" ? { parameter: this.limit.value.trim() } : this.limit.value.trim().replaceAll(",", ""),
      windowSeconds: Number(this.count.value) * Number(this.unit.value),
      ...(filter === null ? {} : { filter }),
      ...this.firing.read(),
    };
  }

  say() {
    try {
      const definition = this.read();
      const whole = definition.conditions ? this.conditions.problems().length === 0
        : this.limit.value.trim() !== "" && definition.windowSeconds > 0;
      setText(this.words, whole ? inWords(definition) : "");
    } catch {
      setText(this.words, "");
    }
  }

  async send() {
    this.mark([]);
    const single = [[this.limit, "limit", "Give a limit."], [this.count, "windowSeconds", "Give a window."]];
    const missing = [[this.name, "name", "Give the rule a name."], ...(this.isChained() ? [] : single)].filter(([input]) => !input.value.trim());
    const wrong = [...missing.map(([, field, message]) => ({ field, message })), ...(this.isChained() ? this.conditions.problems() : []), ...this.firing.problems()];
    if (wrong.length) return this.mark(wrong);
    this.go.disabled = true;
    try {
      const effectiveFrom = this.firing.effectiveFrom();
      const body = { name: this.name.value.trim(), ...this.read(), ...(effectiveFrom === null ? {} : { effectiveFrom }) };
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
      const parts = [...this.element.querySelectorAll(`[data-field="${CSS.escape(name === "windowMinutes" ? "windowSeconds" : name)}"]`)];
      const part = this.conditions.place(field) ?? parts.find((each) => !each.closest(".condition-card"));
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
