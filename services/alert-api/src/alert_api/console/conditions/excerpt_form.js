// Which part of its window a measure takes, and from how many on it has a value, as a part of a form.

import { choice, element, labelled } from "../core/dom.js";
import { MANY, ONE } from "../core/event_type.js";
import { inUnits, UNITS } from "../core/format.js";

const ENDS = [
  ["current", `the ${ONE} that is judged`],
  ["without", `the ${ONE} that is judged, itself left out`],
  ["offset", "some time before it"],
];

export class ExcerptForm {
  /** The ids of its controls begin with `id`. */
  constructor(id) {
    this.end = choice(ENDS, { id: `${id}-end`, on: { change: () => this.adapt() } });
    this.count = element("input", { id: `${id}-offset`, type: "number", min: 1, step: 1, required: true });
    this.unit = choice(UNITS.map(([size, name]) => [size, `${name}s`]), {
      id: `${id}-offset-unit`,
      "aria-label": "Unit of the time before",
    });
    this.least = element("input", {
      id: `${id}-least`,
      type: "number",
      min: 1,
      step: 1,
      placeholder: `any number of ${MANY}`,
    });
    this.offset = element(
      "div",
      { class: "field", dataset: { field: "offsetSeconds" } },
      element("label", { class: "field-name", for: this.count.id }, "and ends this long before"),
      element("div", { class: "with-unit" }, this.count, this.unit),
    );
    this.element = element(
      "div",
      { class: "row" },
      element("div", { dataset: { field: "includeCurrent" } }, labelled("up to", this.end)),
      this.offset,
      element(
        "div",
        { dataset: { field: "minimumCount" } },
        labelled("if there are at least", this.least),
      ),
    );
    this.write({});
  }

  write({ offsetSeconds = 0, includeCurrent = true, minimumCount = 0 }) {
    this.end.value = offsetSeconds ? "offset" : includeCurrent ? "current" : "without";
    [this.count.value, this.unit.value] = inUnits(offsetSeconds || 86400);
    this.least.value = minimumCount || "";
    this.adapt();
  }

  adapt() {
    this.offset.hidden = this.end.value !== "offset";
  }

  /** Its part of the measure, as the registry takes it. What says nothing is left out. */
  read() {
    return {
      ...(this.end.value === "offset" ? { offsetSeconds: this.count.value * this.unit.value } : {}),
      ...(this.end.value === "without" ? { includeCurrent: false } : {}),
      ...(this.least.value.trim() ? { minimumCount: Number(this.least.value) } : {}),
    };
  }

  /** What cannot even be sent: `[{field, message}]`. */
  problems() {
    const before = this.end.value === "offset" && !isWhole(this.count.value);
    const few = this.least.validity.badInput || (this.least.value !== "" && !isWhole(this.least.value));
    return [
      before ? { field: "offsetSeconds", message: "Give a time before, in whole numbers." } : null,
      few ? { field: "minimumCount", message: "Give a whole number, or leave it open." } : null,
    ].filter(Boolean);
  }
}

function isWhole(text) {
  return Number.isInteger(Number(text)) && Number(text) > 0;
}

/** Whether the form has a place for everything that these members say. */
export function fitsExcerpt({ offsetSeconds = 0, includeCurrent = true, minimumCount = 0 }) {
  return typeof includeCurrent === "boolean" &&
    [offsetSeconds, minimumCount].every((number) => Number.isInteger(number) && number >= 0);
}
