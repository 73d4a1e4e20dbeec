// How exactly a rule's windows end, as a part of its form.

import { choice, element, labelled } from "../core/dom.js";
import { MANY, ONE } from "../core/event_type.js";
import { inUnits, UNITS } from "../core/format.js";
import { bucketSeconds } from "../words/precision.js";

const KINDS = [["exact", `exact: each ${ONE} is kept for as long as the window is`], [
  "bucketed",
  `bucketed: old ${MANY} are kept as sums`,
]];
const HINT =
  "Takes far less memory for long windows. A window begins with a whole bucket, and an alert says " +
  "between which bounds the exact " +
  "value is. Not for different values, times since, changes, speeds, deviations, counting afresh or judging " +
  "again.";

export class PrecisionForm {
  constructor() {
    this.kind = choice(KINDS, { id: "rule-precision", on: { change: () => this.adapt() } });
    this.count = element("input", { id: "rule-bucket", type: "number", min: 1, step: 1 });
    this.unit = choice(UNITS.map(([size, name]) => [size, `${name}s`]), {
      id: "rule-bucket-unit",
      "aria-label": "Unit of a bucket",
    });
    this.buckets = element(
      "div",
      { class: "field" },
      element("label", { class: "field-name", for: this.count.id }, "Length of a bucket"),
      element("div", { class: "with-unit" }, this.count, this.unit),
      element("p", { class: "hint" }, HINT),
    );
    this.element = element(
      "div",
      { class: "precision-form", dataset: { field: "precision" } },
      labelled("Precision", this.kind),
      this.buckets,
    );
  }

  write({ precision }) {
    const seconds = bucketSeconds(precision);
    this.kind.value = seconds === null ? "exact" : "bucketed";
    [this.count.value, this.unit.value] = inUnits(seconds ?? 3600);
    this.adapt();
  }

  adapt() {
    this.buckets.hidden = this.kind.value === "exact";
  }

  /** Its part of the definition. What says nothing is left out. */
  read() {
    return this.kind.value === "exact"
      ? {}
      : { precision: `bucketed(${Number(this.count.value) * Number(this.unit.value)})` };
  }

  /** What cannot even be sent: `[{field, message}]`. */
  problems() {
    const fits = this.kind.value === "exact" ||
      (Number.isInteger(Number(this.count.value)) && Number(this.count.value) > 0);
    return fits ? [] : [{ field: "precision", message: "Give the length of a bucket, a whole number." }];
  }
}
