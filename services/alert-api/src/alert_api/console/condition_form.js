// One condition of a chained rule: whom it looks at together, what it measures, and the limit that this is held against.

import { FUNCTIONS, OPERATORS } from "./definition.js";
import { button, choice, element, labelled, setText } from "./dom.js";
import { FilterForm } from "./filter_form.js";
import { UNITS, fieldName, fieldNames, inUnits, operator } from "./format.js";

const KEYS = ["payeeId", "beneficiaryId", "paymentType", "paymentAmount"];
const MEASURES = ["paymentAmount"];
const MEMBERS = new Set(["groupingKeyNames", "aggregatorFunctionType", "aggregateFieldName", "limitOperatorType", "limit", "windowSeconds", "filter"]);
let made = 0;

export class ConditionForm {
  /** `onRemove` is called when the condition is to go. */
  constructor(condition, negated, onRemove) {
    const id = `condition-${made += 1}`;
    this.not = element("input", { type: "checkbox" });
    this.keys = KEYS.map((name) => {
      const box = element("input", { type: "checkbox", value: name, checked: condition.groupingKeyNames.includes(name) });
      return { name, box, label: element("label", { class: "check" }, box, ` ${fieldName(name)}`) };
    });
    this.kind = choice(FUNCTIONS, { id: `${id}-function`, on: { change: () => this.adapt() } });
    this.field = choice([], { id: `${id}-field` });
    this.sign = choice(OPERATORS.map((each) => [each, operator(each)]), { id: `${id}-operator` });
    this.limit = element("input", { id: `${id}-limit`, inputmode: "decimal", required: true, size: 12, autocomplete: "off" });
    this.count = element("input", { id: `${id}-window`, type: "number", min: 1, step: 1, required: true });
    this.unit = choice(UNITS.map(([size, name]) => [size, `${name}s`]), { "aria-label": "Unit of the window" });
    this.filter = new FilterForm({ id: `${id}-filter` });
    this.legend = element("legend");
    this.element = this.build(condition, onRemove);
    this.write(condition, negated);
  }

  build(condition, onRemove) {
    return element("fieldset", { class: "group condition-card" }, this.legend,
      element("div", { class: "condition-head" }, element("label", { class: "check" }, this.not, " not: the rule wants it not to hold"),
        button("Remove", onRemove, { "aria-label": "Remove this condition of the rule" })),
      at("groupingKeyNames", element("span", { class: "field-name" }, "Grouped by"), element("div", { class: "checks" }, this.keys.map((each) => each.label))),
      element("div", { class: "row" }, at("aggregatorFunctionType", labelled("Aggregate", this.kind)),
        this.fieldPart = at("aggregateFieldName", labelled("of", this.field))),
      element("div", { class: "row" }, at("limitOperatorType", labelled("is", this.sign)), at("limit", labelled("Limit", this.limit)),
        at("windowSeconds", labelled("within", this.count)), element("div", { class: "field" }, element("span", { class: "field-name" }, "\u00a0"), this.unit)),
      element("details", { open: Boolean(condition.filter) }, element("summary", {}, "Only some of the payments"), this.filter.element));
  }

  write(condition, negated) {
    this.not.checked = negated;
    this.kind.value = condition.aggregatorFunctionType;
    this.sign.value = condition.limitOperatorType;
    this.limit.value = condition.limit;
    [this.count.value, this.unit.value] = inUnits(condition.windowSeconds);
    this.filter.write(condition.filter ?? null);
    this.adapt();
    if (condition.aggregateFieldName) this.field.value = condition.aggregateFieldName;
  }

  number(number) {
    setText(this.legend, `Condition ${number}`);
  }

  adapt() {
    const different = this.kind.value === "COUNT_DISTINCT";
    const before = this.field.value;
    const offered = different ? KEYS.map((name) => [name, fieldNames(name)]) : MEASURES.map((name) => [name, fieldName(name)]);
    this.field.replaceChildren(...offered.map(([value, text]) => element("option", { value }, text)));
    if (offered.some(([name]) => name === before)) this.field.value = before;
    setText(this.fieldPart.querySelector("label"), different ? "Different what" : "of");
    this.fieldPart.hidden = this.kind.value === "COUNT";
  }

  /** The condition as the registry takes it, under `not` where that is ticked. */
  read() {
    const filter = this.filter.read();
    const condition = {
      groupingKeyNames: this.keys.filter((each) => each.box.checked).map((each) => each.name),
      aggregatorFunctionType: this.kind.value,
      aggregateFieldName: this.kind.value === "COUNT" ? null : this.field.value,
      limitOperatorType: this.sign.value,
      limit: this.limit.value.trim().replaceAll(",", ""),
      windowSeconds: Number(this.count.value) * Number(this.unit.value),
      ...(filter === null ? {} : { filter }),
    };
    return this.not.checked ? { not: condition } : condition;
  }

  /** What cannot even be sent: members and what to say at them. */
  missing() {
    return [[this.limit, "limit", "Give a limit."], [this.count, "windowSeconds", "Give a window."]]
      .filter(([input]) => !input.value.trim()).map(([, member, message]) => ({ member, message }));
  }
}

/** Whether the form has a place for everything that the condition says. */
export function fitsForm(condition) {
  return typeof condition === "object" && condition !== null && Object.keys(condition).every((name) => MEMBERS.has(name))
    && Array.isArray(condition.groupingKeyNames) && condition.groupingKeyNames.every((name) => KEYS.includes(name))
    && FUNCTIONS.some(([kind]) => kind === condition.aggregatorFunctionType) && OPERATORS.includes(condition.limitOperatorType)
    && ["string", "number"].includes(typeof condition.limit) && Number.isInteger(condition.windowSeconds) && condition.windowSeconds > 0;
}

function at(field, ...nodes) {
  return element("div", { dataset: { field } }, nodes);
}
