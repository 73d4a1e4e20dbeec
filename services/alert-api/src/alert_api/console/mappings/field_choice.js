// Where one field comes from: a column, the number of the line, or the same in every row.

import { choice, element, labelled, setText } from "../core/dom.js";
import { FormChoice } from "./form_choice.js";
import { quoted } from "./mapping_text.js";

const SURE = { certain: "Certain", likely: "Likely", open: "Open" };
const NUMBERED = "numbered";
const CONSTANT = "constant";
const PREFIX = "row-";

export class FieldChoice {
  /** `declared` is the event type's field, `proposed` what the registry says of it; `onChange()` is called. */
  constructor(declared, proposed, { columns, byPosition }, onChange) {
    Object.assign(this, { declared, proposed, columns, byPosition, onChange });
    const id = `mapping-${declared.name}`;
    this.badge = element(
      "span",
      { class: "mapping-sure", dataset: { sure: proposed.sure } },
      SURE[proposed.sure],
    );
    this.reason = element("p", { class: "muted small" }, sentence(proposed.reason));
    this.problem = element("p", { class: "error small" });
    this.source = choice(this.sources(), { id, on: { change: () => this.changed() } });
    this.source.value = this.firstSource();
    this.constant = declared.kind === "enum"
      ? choice([["", "Choose\u2026"], ...pairs(declared.values)], { id: `${id}-constant` })
      : element("input", { id: `${id}-constant`, maxlength: 64, autocomplete: "off" });
    this.constant.addEventListener("change", onChange);
    this.constantPart = labelled("In every row", this.constant);
    const onAnswer = () => {
      if (proposed.sure === "open") this.settle();
      onChange();
    };
    this.onAnswer = onAnswer;
    this.form = declared.kind === "timestamp"
      ? new FormChoice(id, proposed, byPosition ? [] : columns, onAnswer)
      : null;
    this.values = element("div", { class: "mapping-values" });
    this.element = element(
      "li",
      { class: "mapping-field", dataset: { field: declared.name } },
      element("div", { class: "mapping-head" }, element("b", {}, declared.name), this.badge),
      this.reason,
      element(
        "div",
        { class: "mapping-controls" },
        labelled(`${declared.name} comes from`, this.source),
        this.constantPart,
        this.form?.element,
        this.values,
      ),
      this.problem,
    );
    this.follow();
  }

  sources() {
    const likely = new Set(this.proposed.candidates);
    const listed = this.columns.map((column, index) => [
      `column ${index}`,
      `${likely.has(column.name) ? "Perhaps " : ""}${titleOf(column, this.byPosition)}`,
    ]);
    return [
      ["", this.declared.required || this.proposed.sure === "open" ? "Choose\u2026" : "Nothing"],
      ...listed.filter(([, text]) => text.startsWith("Perhaps ")),
      ...listed.filter(([, text]) => !text.startsWith("Perhaps ")),
      this.declared.role === "id" ? [NUMBERED, "The number of its line"] : null,
      ["id", "time"].includes(this.declared.role) ? null : [CONSTANT, "The same in every row"],
    ].filter(Boolean);
  }

  firstSource() {
    if (this.proposed.isNumbered) return NUMBERED;
    const index = this.columns.findIndex((column) => column.name === this.proposed.columns[0]);
    return index < 0 ? "" : `column ${index}`;
  }

  /** The column that is chosen; undefined where none is. */
  column() {
    const [, index] = /^column (\d+)$/.exec(this.source.value) ?? [];
    return this.columns[index];
  }

  changed() {
    this.settle();
    this.follow();
    this.onChange();
  }

  /** A person has said something: what was proposed, and why, is past. */
  settle() {
    this.badge.hidden = true;
    setText(this.reason, "");
  }

  /** Shows what goes with the source. */
  follow() {
    const column = this.column();
    this.constantPart.hidden = this.source.value !== CONSTANT;
    if (this.form) this.form.element.hidden = column === undefined;
    this.values.replaceChildren();
    this.translations = new Map();
    if (this.declared.kind === "enum" && column) this.translate(column);
  }

  /** A choice for each value that the field does not take as it is. */
  translate(column) {
    const proposed = column.name === this.proposed.columns[0] ? this.proposed.values : null;
    const said = proposed ??
      (column.examples.every((value) => this.declared.values.includes(value))
        ? []
        : column.examples.map((value) => ({ said: value, means: null })));
    for (const [index, one] of said.entries()) {
      const select = choice([["", "Refused"], ...pairs(this.declared.values)], {
        id: `mapping-${this.declared.name}-value-${index}`,
        on: { change: this.onAnswer },
      });
      select.value = one.means ?? "";
      this.translations.set(one.said, select);
      this.values.append(labelled(`\u201c${one.said}\u201d means`, select));
    }
  }

  /** As a mapping has it; without a source where nothing is chosen. */
  read() {
    const column = this.column();
    const chosen = { name: this.declared.name, source: null, form: null, values: {} };
    if (this.source.value === NUMBERED) chosen.source = `rowNumber: ${quoted(PREFIX)}`;
    if (this.source.value === CONSTANT && this.constant.value) {
      chosen.source = `constant: ${quoted(this.constant.value)}`;
    }
    if (column) {
      const clock = this.form?.clock();
      const names = [column, clock].filter(Boolean).map(({ name }) => quoted(name));
      if (this.byPosition) chosen.source = `position: ${column.name}`;
      else chosen.source = names.length > 1 ? `columns: [${names.join(", ")}]` : `column: ${names[0]}`;
      chosen.form = this.form?.read() ?? null;
    }
    for (const [said, select] of this.translations) chosen.values[said] = select.value;
    return chosen;
  }

  /** Says what is wrong with it; "" for nothing. */
  say(message) {
    setText(this.problem, message);
    this.element.classList.toggle("wrong", message !== "");
  }
}

/** A column as people tell it from others. */
export function titleOf({ name, heading, examples }, byPosition) {
  const example = examples.length ? `: ${examples[0]}` : "";
  return byPosition ? `Column ${name}${heading && ` (${heading})`}${example}` : `${heading}${example}`;
}

function pairs(values) {
  return values.map((value) => [value, value]);
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}
