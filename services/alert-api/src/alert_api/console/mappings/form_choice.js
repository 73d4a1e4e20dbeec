// How a column's times are written, and whether the time of day stands in a column of its own.

import { choice, element, labelled } from "../core/dom.js";
import { quoted } from "./mapping_text.js";

const KNOWN = [
  ["iso-8601", "ISO 8601: 2021-06-01T12:00:00Z"],
  ["epoch-seconds", "Seconds since 1970"],
  ["epoch-milliseconds", "Milliseconds since 1970"],
];
const OTHER = "other";

export class FormChoice {
  constructor(id, { forms, columns: [, clock] }, columns, onChange) {
    this.columns = columns;
    const patterns = forms.filter((form) => form.includes("%")).map((form) => [form, patternInWords(form)]);
    this.form = choice(
      [["", "Choose\u2026"], ...patterns, ...KNOWN, [OTHER, "Another pattern, or a count"]],
      { id: `${id}-form` },
    );
    this.form.value = forms.length === 1 ? forms[0] : "";
    this.pattern = element("input", { id: `${id}-pattern`, maxlength: 80, autocomplete: "off" });
    this.patternPart = labelled(
      "Pattern of times",
      this.pattern,
      'As strptime has it: %d.%m.%Y %H:%M. Or a count: {unit: hours, since: "2021-01-01T00:00:00Z"}',
    );
    this.time = choice(
      [["", "The same column"], ...columns.map(({ name }, index) => [String(index), `Column ${name}`])],
      { id: `${id}-clock` },
    );
    this.time.value = clock === undefined ? "" : String(columns.findIndex(({ name }) => name === clock));
    this.element = element(
      "div",
      { class: "mapping-form" },
      labelled("Times are written as", this.form),
      this.patternPart,
      columns.length > 1 && labelled("The time of day is in", this.time),
    );
    const changed = () => {
      this.patternPart.hidden = this.form.value !== OTHER;
      onChange();
    };
    for (const control of [this.form, this.pattern, this.time]) control.addEventListener("change", changed);
    this.patternPart.hidden = true;
  }

  /** The column of the time of day; undefined where it is the same. */
  clock() {
    return this.time.value === "" ? undefined : this.columns[Number(this.time.value)];
  }

  /** As a mapping says it; null is open. */
  read() {
    if (this.form.value !== OTHER) return this.form.value ? quoted(this.form.value) : null;
    const text = this.pattern.value.trim();
    // a count is YAML itself, on one line
    if (/^\{[^{}]*\}$/.test(text)) return text;
    return text ? quoted(text) : null;
  }
}

const PARTS = {
  Y: "year",
  y: "year of two digits",
  m: "month",
  d: "day",
  b: "month\u2019s name",
  H: "hour",
  I: "hour to 12",
  M: "minute",
  S: "second",
  f: "fraction",
  p: "am or pm",
};

/** "%d/%m/%Y" → "day/month/year: %d/%m/%Y": who has to choose need not know patterns. */
function patternInWords(form) {
  return `${form.replace(/%(\w)/g, (_, part) => PARTS[part] ?? part)}: ${form}`;
}
