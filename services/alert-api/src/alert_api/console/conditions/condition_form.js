// One condition of a chained rule: what it measures, of which transactions, and whether the rule wants it to
// hold or not to.

import { button, element, setText } from "../core/dom.js";
import { MANY } from "../core/event_type.js";
import { FilterForm } from "./filter_form.js";
import { fitsMeasure, MeasureForm } from "./measure_form.js";

let made = 0;

export class ConditionForm {
  /** `onRemove` is called when the condition is to go. */
  constructor(condition, negated, onRemove) {
    const id = `condition-${made += 1}`;
    this.not = element("input", { type: "checkbox", checked: negated });
    this.measure = new MeasureForm(id, { chained: true });
    this.filter = new FilterForm({ id: `${id}-filter` });
    this.legend = element("legend");
    this.element = element(
      "fieldset",
      { class: "group condition-card" },
      this.legend,
      element(
        "div",
        { class: "condition-head" },
        element("label", { class: "check" }, this.not, " not: the rule wants it not to hold"),
        button("Remove", onRemove, { "aria-label": "Remove this condition of the rule" }),
      ),
      this.measure.element,
      element(
        "details",
        { open: Boolean(condition.filter) },
        element("summary", {}, `Only some of the ${MANY}`),
        this.filter.element,
      ),
    );
    this.measure.write(condition);
    this.filter.write(condition.filter ?? null);
  }

  number(number) {
    setText(this.legend, `Condition ${number}`);
  }

  /** The condition as the registry takes it, under `not` where that is ticked. */
  read() {
    const filter = this.filter.read();
    const condition = { ...this.measure.read(), ...(filter === null ? {} : { filter }) };
    return this.not.checked ? { not: condition } : condition;
  }

  /** What cannot even be sent: `[{field, message}]`. */
  problems() {
    return this.measure.problems();
  }

  /** Where to say what is wrong with a member, such as `filter` or `limit.times`; null for no place. */
  place(path) {
    return /^filter\b/.test(path) ? this.filter.element : this.measure.place(path);
  }
}

/** Whether the form has a place for everything that the condition says. A filter of any kind has one. */
export function fitsForm(condition) {
  if (typeof condition !== "object" || condition === null) return false;
  const { filter, ...measured } = condition;
  return typeof (filter ?? null) === "object" && fitsMeasure(measured, { chained: true });
}
