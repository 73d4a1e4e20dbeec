// A measured condition as a form: whom it looks at together, what it measures, and the limit that this is
// held against.
// A plain rule is one such, a chained rule has several.

import { FUNCTIONS, OF_KEYS, OF_NO_FIELD, OPERATORS } from "../words/definition.js";
import { choice, element, labelled, setText } from "../core/dom.js";
import { KEYS, MEASURES } from "../core/event_type.js";
import { fieldName, fieldNames, inUnits, operator, UNITS } from "../core/format.js";
import { fitsKey, GroupingKey } from "../parts/grouping_key.js";
import { offerNames, SOURCES } from "./name_suggestions.js";

const MEMBERS = new Set([
  "groupingKeyNames",
  "aggregatorFunctionType",
  "aggregateFieldName",
  "limitOperatorType",
  "limit",
  "windowSeconds",
]);

export class MeasureForm {
  /** The ids of its controls begin with `id`; `hint` is said below the grouping. */
  constructor(id, hint = null) {
    this.keys = KEYS.map((name) => new GroupingKey(name));
    this.kind = choice(FUNCTIONS.filter(([kind]) => OF_NO_FIELD.has(kind) || measurable(kind).length), {
      id: `${id}-function`,
      on: { change: () => this.adapt() },
    });
    this.field = choice([], { id: `${id}-field` });
    this.sign = choice(OPERATORS.map((sign) => [sign, operator(sign)]), { id: `${id}-operator` });
    this.source = choice(SOURCES, { id: `${id}-limit-source`, on: { change: () => this.adapt() } });
    this.limit = element("input", { id: `${id}-limit`, required: true, size: 12, autocomplete: "off" });
    this.count = element("input", { id: `${id}-window`, type: "number", min: 1, step: 1, required: true });
    this.unit = choice(UNITS.map(([size, name]) => [size, `${name}s`]), {
      id: `${id}-unit`,
      "aria-label": "Unit of the window",
    });
    this.element = this.build(hint);
  }

  build(hint) {
    return element(
      "div",
      { class: "measure-form" },
      element(
        "fieldset",
        { class: "group keys", dataset: { field: "groupingKeyNames" } },
        element("legend", {}, "Grouped by"),
        element("div", { class: "checks" }, this.keys.map((key) => key.element)),
        hint && element("p", { class: "hint" }, hint),
      ),
      element(
        "div",
        { class: "row" },
        at("aggregatorFunctionType", labelled("Aggregate", this.kind)),
        this.fieldPart = at("aggregateFieldName", labelled("of", this.field)),
      ),
      element(
        "div",
        { class: "row limit-row" },
        at("limitOperatorType", labelled("is", this.sign)),
        labelled("given as", this.source),
        at("limit", labelled("Limit", this.limit)),
      ),
      at(
        "windowSeconds",
        element(
          "div",
          { class: "field" },
          element("label", { class: "field-name", for: this.count.id }, "within"),
          element("div", { class: "with-unit" }, this.count, this.unit),
        ),
      ),
    );
  }

  write(measured) {
    for (const key of this.keys) key.write(measured.groupingKeyNames);
    this.kind.value = measured.aggregatorFunctionType;
    this.sign.value = measured.limitOperatorType;
    this.source.value = measured.limit.parameter ? "parameter" : "number";
    this.limit.value = measured.limit.parameter ?? measured.limit;
    [this.count.value, this.unit.value] = inUnits(measured.windowSeconds);
    this.adapt();
    if (measured.aggregateFieldName) this.field.value = measured.aggregateFieldName;
  }

  adapt() {
    const different = this.kind.value === "COUNT_DISTINCT";
    const before = this.field.value;
    const offered = measurable(this.kind.value).map((
      name,
    ) => [name, different ? fieldNames(name) : fieldName(name)]);
    this.field.replaceChildren(...offered.map(([value, text]) => element("option", { value }, text)));
    if (offered.some(([name]) => name === before)) this.field.value = before;
    setText(this.fieldPart.querySelector("label"), different ? "Different what" : "of");
    this.fieldPart.hidden = OF_NO_FIELD.has(this.kind.value);
    const named = this.source.value === "parameter";
    offerNames(this.limit, named ? "parameter" : null);
    this.limit.inputMode = named ? "text" : "decimal";
  }

  /** Its part of the definition, as the registry takes it. */
  read() {
    return {
      groupingKeyNames: this.keys.filter((key) => key.box.checked).map((key) => key.read()),
      aggregatorFunctionType: this.kind.value,
      aggregateFieldName: OF_NO_FIELD.has(this.kind.value) ? null : this.field.value,
      limitOperatorType: this.sign.value,
      limit: this.source.value === "parameter"
        ? { parameter: this.limit.value.trim() }
        : this.limit.value.trim().replaceAll(",", ""),
      windowSeconds: Number(this.count.value) * Number(this.unit.value),
    };
  }

  /** What cannot even be sent: `[{field, message}]`. */
  problems() {
    return [
      this.limit.value.trim() ? null : { field: "limit", message: "Give a limit." },
      Number(this.count.value) > 0 ? null : { field: "windowSeconds", message: "Give a window." },
    ].filter(Boolean);
  }
}

/** Whether the form has a place for everything that these members say. */
export function fitsMeasure(measured) {
  return Object.keys(measured).every((name) => MEMBERS.has(name)) &&
    Array.isArray(measured.groupingKeyNames) &&
    measured.groupingKeyNames.every(fitsKey) &&
    FUNCTIONS.some(([kind]) => kind === measured.aggregatorFunctionType) &&
    (OF_NO_FIELD.has(measured.aggregatorFunctionType) ||
      measurable(measured.aggregatorFunctionType).includes(measured.aggregateFieldName)) &&
    OPERATORS.includes(measured.limitOperatorType) &&
    (["string", "number"].includes(typeof measured.limit) || isNamed(measured.limit)) &&
    Number.isInteger(measured.windowSeconds) && measured.windowSeconds > 0;
}

/** Values are told apart of any field that one can group by, the other aggregates are of amounts. */
function measurable(kind) {
  return OF_KEYS.has(kind) ? KEYS : MEASURES;
}

function isNamed(limit) {
  return typeof limit?.parameter === "string" && Object.keys(limit).length === 1;
}

function at(field, node) {
  return element("div", { dataset: { field } }, node);
}
