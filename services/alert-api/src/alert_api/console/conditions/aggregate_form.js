// What is measured, as a form: whom it looks at together, the aggregate, and the window.

import { FUNCTIONS, OF_KEYS, OF_NO_FIELD } from "../words/definition.js";
import { choice, element, labelled, setText } from "../core/dom.js";
import { GROUPINGS, KEYS, MEASURES, POSITIONS } from "../core/event_type.js";
import { ExcerptForm, fitsExcerpt } from "./excerpt_form.js";
import { fitsKey, GroupingKey } from "../parts/grouping_key.js";
import { fieldName, fieldNames, inUnits, UNITS } from "../core/format.js";

/** What says which part of the window is taken. */
export const EXCERPT = ["offsetSeconds", "includeCurrent", "minimumCount"];
export const AGGREGATE_MEMBERS = [
  "groupingKeyNames",
  "aggregatorFunctionType",
  "aggregateFieldName",
  "windowSeconds",
  ...EXCERPT,
];

export class AggregateForm {
  /**
   * The ids of its controls begin with `id`; `hint` is said below the grouping; `excerpt`: it may take a part of
   * its window.
   */
  constructor(id, { hint = null, excerpt = false }) {
    this.keys = GROUPINGS.map((name) => new GroupingKey(name));
    this.kind = choice(FUNCTIONS.filter(([kind]) => OF_NO_FIELD.has(kind) || measurable(kind).length), {
      id: `${id}-function`,
      on: { change: () => this.adapt() },
    });
    this.field = choice([], { id: `${id}-field` });
    this.count = element("input", { id: `${id}-window`, type: "number", min: 1, step: 1, required: true });
    this.unit = choice(UNITS.map(([size, name]) => [size, `${name}s`]), {
      id: `${id}-unit`,
      "aria-label": "Unit of the window",
    });
    this.excerpt = excerpt ? new ExcerptForm(id) : null;
    this.build(hint);
  }

  build(hint) {
    this.grouping = element(
      "fieldset",
      { class: "group keys", dataset: { field: "groupingKeyNames" } },
      element("legend", {}, "Grouped by"),
      element("div", { class: "checks" }, this.keys.map((key) => key.element)),
      hint && element("p", { class: "hint" }, hint),
    );
    this.row = element(
      "div",
      { class: "row" },
      at("aggregatorFunctionType", labelled("Aggregate", this.kind)),
      this.fieldPart = at("aggregateFieldName", labelled("of", this.field)),
    );
    this.window = at(
      "windowSeconds",
      element(
        "div",
        { class: "field" },
        element("label", { class: "field-name", for: this.count.id }, "within"),
        element("div", { class: "with-unit" }, this.count, this.unit),
      ),
    );
  }

  write(measured) {
    for (const key of this.keys) key.write(measured.groupingKeyNames);
    this.kind.value = measured.aggregatorFunctionType;
    [this.count.value, this.unit.value] = inUnits(measured.windowSeconds);
    this.excerpt?.write(measured);
    this.adapt();
    if (measured.aggregateFieldName) this.field.value = measured.aggregateFieldName;
  }

  takeWindow(seconds) {
    [this.count.value, this.unit.value] = inUnits(seconds);
    this.count.focus();
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
  }

  /** Its part of the definition, as the registry takes it. */
  read() {
    return {
      groupingKeyNames: this.keys.filter((key) => key.box.checked).map((key) => key.read()),
      aggregatorFunctionType: this.kind.value,
      aggregateFieldName: OF_NO_FIELD.has(this.kind.value) ? null : this.field.value,
      windowSeconds: Number(this.count.value) * Number(this.unit.value),
      ...this.excerpt?.read(),
    };
  }

  /** What cannot even be sent: `[{field, message}]`. */
  problems() {
    return [
      ...(Number(this.count.value) > 0 ? [] : [{ field: "windowSeconds", message: "Give a window." }]),
      ...(this.excerpt?.problems() ?? []),
    ];
  }
}

/** Whether the form has a place for what these members say. */
export function fitsAggregate(measured) {
  return Array.isArray(measured.groupingKeyNames) &&
    measured.groupingKeyNames.every(fitsKey) &&
    FUNCTIONS.some(([kind]) => kind === measured.aggregatorFunctionType) &&
    (OF_NO_FIELD.has(measured.aggregatorFunctionType) ||
      measurable(measured.aggregatorFunctionType).includes(measured.aggregateFieldName)) &&
    Number.isInteger(measured.windowSeconds) && measured.windowSeconds > 0 && fitsExcerpt(measured);
}

/** Values are told apart of any field that one can group by, speeds are of positions, other aggregates of amounts. */
function measurable(kind) {
  if (kind === "SPEED_KMH") return POSITIONS;
  return OF_KEYS.has(kind) ? KEYS : MEASURES;
}

/** A part of a form that errors of that field are said at. */
export function at(field, node) {
  return element("div", { dataset: { field } }, node);
}
