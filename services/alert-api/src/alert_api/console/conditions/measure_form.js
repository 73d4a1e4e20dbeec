// A measured condition as a form: what it measures, and the limit that this is held against.
// A plain rule is one such, a chained rule has several, whose limits may be measured too.

import { OPERATORS } from "../words/definition.js";
import { AGGREGATE_MEMBERS, AggregateForm, at, EXCERPT, fitsAggregate } from "./aggregate_form.js";
import { BaselineForm, firstLimit, fitsRelative } from "./baseline_form.js";
import { choice, element, labelled } from "../core/dom.js";
import { operator } from "../core/format.js";
import { offerNames, SOURCES } from "./name_suggestions.js";
import { fitsNumber } from "./number_input.js";

const MEMBERS = [...AGGREGATE_MEMBERS, "limitOperatorType", "limit"];
const MEASURED = ["measure", "\u00d7 a measure"];

export class MeasureForm {
  /** The ids of its controls begin with `id`; what only conditions may say is there where it is `chained`. */
  constructor(id, { hint = null, chained = false } = {}) {
    this.id = id;
    this.measured = new AggregateForm(id, { hint, excerpt: chained });
    this.sign = choice(OPERATORS.map((sign) => [sign, operator(sign)]), { id: `${id}-operator` });
    this.source = choice(chained ? [...SOURCES, MEASURED] : SOURCES, {
      id: `${id}-limit-source`,
      on: { change: () => this.adapt() },
    });
    this.limit = element("input", { id: `${id}-limit`, required: true, size: 12, autocomplete: "off" });
    this.baseline = null;
    this.baselinePart = element("div", { hidden: true });
    this.element = element(
      "div",
      { class: "measure-form" },
      this.measured.grouping,
      this.measured.row,
      this.measured.window,
      this.measured.excerpt?.element,
      element(
        "div",
        { class: "row limit-row" },
        at("limitOperatorType", labelled("is", this.sign)),
        labelled("given as", this.source),
        this.limitPart = at("limit", labelled("Limit", this.limit)),
      ),
      this.baselinePart,
    );
  }

  get kind() {
    return this.measured.kind;
  }

  write(measured) {
    const { limit } = measured;
    this.measured.write(measured);
    this.sign.value = measured.limitOperatorType;
    this.source.value = limit.measure ? "measure" : limit.parameter ? "parameter" : "number";
    this.limit.value = limit.measure ? "" : limit.parameter ?? limit;
    this.baseline = null;
    if (limit.measure) this.measureBy(limit);
    this.adapt();
  }

  measureBy(limit) {
    const { groupingKeyNames } = this.measured.read();
    this.baseline = new BaselineForm(`${this.id}-baseline`, limit, groupingKeyNames);
    this.baselinePart.replaceChildren(this.baseline.element);
  }

  get isMeasured() {
    return this.source.value === "measure";
  }

  adapt() {
    if (this.isMeasured && this.baseline === null) this.measureBy(firstLimit(this.measured.read()));
    this.baselinePart.hidden = !this.isMeasured;
    this.limitPart.hidden = this.isMeasured;
    const named = this.source.value === "parameter";
    offerNames(this.limit, named ? "parameter" : null);
    this.limit.inputMode = named ? "text" : "decimal";
  }

  /** Another limit or window. */
  take(member, value) {
    if (member === "windowSeconds") return this.measured.takeWindow(value);
    this.source.value = "number";
    this.limit.value = value;
    this.adapt();
    return this.limit.focus();
  }

  /** Its part of the definition, as the registry takes it. */
  read() {
    return { ...this.measured.read(), limitOperatorType: this.sign.value, limit: this.readLimit() };
  }

  readLimit() {
    if (this.isMeasured) return this.baseline.read();
    const text = this.limit.value.trim();
    return this.source.value === "parameter" ? { parameter: text } : text.replaceAll(",", "");
  }

  /** What cannot even be sent: `[{field, message}]`. */
  problems() {
    const missing = this.isMeasured
      ? this.baseline.problems()
      : this.limit.value.trim()
      ? []
      : [{ field: "limit", message: "Give a limit." }];
    return [...missing, ...this.measured.problems()];
  }

  /** Where to say what is wrong with a member, such as `limit` or `limit.measure.windowSeconds`; null for no place. */
  place(path) {
    const [member, ...inner] = path.split(".");
    if (member === "limit" && this.isMeasured) return this.baseline.place(inner.join("."));
    return [...this.element.querySelectorAll(`[data-field="${CSS.escape(member.split("[")[0])}"]`)]
      .find((part) => !this.baselinePart.contains(part)) ?? null;
  }
}

/** Whether the form has a place for everything that these members say; `chained` is that of the form. */
export function fitsMeasure(measured, { chained = false } = {}) {
  const { limit } = measured;
  const isWhole = !EXCERPT.some((name) => name in measured);
  return Object.keys(measured).every((name) => MEMBERS.includes(name)) && fitsAggregate(measured) &&
    (chained || isWhole) &&
    OPERATORS.includes(measured.limitOperatorType) &&
    (fitsNumber(limit) ||
      (chained && typeof limit?.measure === "object" && fitsRelative(limit, measured.groupingKeyNames)));
}
