// A number of a rule, or the parameter that gives it.

import { choice, element } from "../core/dom.js";
import { offerNames, SOURCES } from "./name_suggestions.js";

export class NumberInput {
  /**
   * `field` is the member that it is, `name` is what a screen reader says; it is written "" or a value, and may be left
   * open where it is `optional`.
   */
  constructor(field, name, value, { optional = false } = {}) {
    Object.assign(this, { field, optional });
    this.source = choice(SOURCES, { "aria-label": `${name}, given as`, on: { change: () => this.adapt() } });
    this.value = element("input", { "aria-label": name, required: !optional, autocomplete: "off", size: 8 });
    this.element = element("div", { class: "number-input", dataset: { field } }, this.source, this.value);
    this.source.value = value?.parameter === undefined ? "number" : "parameter";
    this.value.value = value?.parameter ?? value;
    this.adapt();
  }

  adapt() {
    const named = this.source.value === "parameter";
    offerNames(this.value, named ? "parameter" : null);
    this.value.inputMode = named ? "text" : "decimal";
  }

  get isOpen() {
    return this.value.value.trim() === "";
  }

  /** As the registry takes it. */
  read() {
    const text = this.value.value.trim();
    return this.source.value === "parameter" ? { parameter: text } : text.replaceAll(",", "");
  }

  /** What cannot even be sent, the field below `path`: `[{field, message}]`. */
  problems(path) {
    if (this.optional || !this.isOpen) return [];
    return [{ field: `${path}.${this.field}`, message: "Give a number." }];
  }
}

/** Whether the form has a place for the number. */
export function fitsNumber(value) {
  return ["string", "number"].includes(typeof value) ||
    (typeof value?.parameter === "string" && Object.keys(value).length === 1);
}
