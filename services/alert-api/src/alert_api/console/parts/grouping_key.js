// A field or a party that a rule may group by: a box to tick, and of an amount the steps that it may be in.

import { element } from "../core/dom.js";
import { GROUPINGS, MEASURES } from "../core/event_type.js";
import { fieldName } from "../core/format.js";

export class GroupingKey {
  constructor(name) {
    this.name = name;
    this.box = element("input", {
      type: "checkbox",
      value: name,
      on: { change: () => this.adapt() },
    });
    this.step = element("input", {
      "aria-label": `Steps of the ${fieldName(name)}`,
      placeholder: "exactly",
      size: 8,
      inputmode: "decimal",
      autocomplete: "off",
    });
    this.steps = element("span", { class: "steps" }, " in steps of ", this.step);
    this.element = element(
      "span",
      { class: "key" },
      element("label", { class: "check" }, this.box, ` ${fieldName(name)}`),
      MEASURES.includes(name) ? this.steps : null,
    );
    this.adapt();
  }

  /** Shows whether it is among the keys, and how. */
  write(keys) {
    const stepped = keys.find((key) => key.field === this.name);
    this.box.checked = keys.includes(this.name) || stepped !== undefined;
    this.step.value = stepped?.step ?? "";
    this.adapt();
  }

  adapt() {
    this.steps.hidden = !this.box.checked;
  }

  /** As the registry takes it. */
  read() {
    const step = this.step.value.trim().replaceAll(",", "");
    return step ? { field: this.name, step } : this.name;
  }
}

/** Whether a form of keys has a place for this one. */
export function fitsKey(key) {
  if (typeof key === "string") return GROUPINGS.includes(key);
  return MEASURES.includes(key?.field) && ["string", "number"].includes(typeof key.step) &&
    Object.keys(key).length === 2;
}
