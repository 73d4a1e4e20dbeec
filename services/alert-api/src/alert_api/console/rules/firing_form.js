// When a rule fires, as a part of its form: at which transactions, what late ones do, how long it is silent,
// since when and until when.

import { JUDGED_ONCE, LATE_EVENTS } from "../words/definition.js";
import { choice, element, labelled, setText } from "../core/dom.js";
import { MANY, ONE } from "../core/event_type.js";
import { fieldTime, inUnits, UNITS } from "../core/format.js";

export class FiringForm {
  constructor() {
    this.firing = choice([["every", `at each ${ONE} for which it holds`], [
      "crossing",
      "only when the limit is crossed",
    ]], { id: "rule-firing" });
    this.late = choice(LATE_EVENTS, { id: "rule-late", "aria-describedby": "rule-late-hint" });
    this.hint = element("p", { class: "hint", id: "rule-late-hint", role: "status" });
    this.reset = element("input", { type: "checkbox", id: "rule-reset" });
    this.count = element("input", { id: "rule-cooldown", type: "number", min: 1, step: 1 });
    this.unit = choice(UNITS.map(([size, name]) => [size, `${name}s`]), {
      id: "rule-cooldown-unit",
      "aria-label": "Unit of the silence",
    });
    this.since = element("input", { type: "datetime-local", step: 1, id: "rule-since" });
    this.until = element("input", { type: "datetime-local", step: 1, id: "rule-until" });
    this.end = null;
    this.once = false;
    const adapt = () => this.adapt();
    this.element = element(
      "fieldset",
      { class: "group", on: { input: adapt, change: adapt } },
      element("legend", {}, "Firing"),
      at("firing", labelled("Fires", this.firing)),
      at("lateEvents", labelled(`Late ${MANY}`, this.late), this.hint),
      at(
        "resetOnAlert",
        element("label", { class: "check" }, this.reset, " after an alert, count afresh for that group"),
      ),
      at(
        "cooldownSeconds",
        element(
          "div",
          { class: "field" },
          element(
            "label",
            { class: "field-name", for: this.count.id },
            "After an alert, be silent for that group for (left open: not at all)",
          ),
          element("div", { class: "with-unit" }, this.count, this.unit),
        ),
      ),
      at("effectiveFrom", labelled("In force from (left open: now)", this.since)),
      at("effectiveUntil", labelled("Judges until (left open: without an end)", this.until)),
    );
  }

  write(definition) {
    this.firing.value = definition.firing ?? "every";
    this.late.value = definition.lateEvents ?? "evaluate";
    this.reset.checked = Boolean(definition.resetOnAlert);
    [this.count.value, this.unit.value] = definition.cooldownSeconds
      ? inUnits(definition.cooldownSeconds)
      : ["", 60];
    this.end = definition.effectiveUntil ?? null;
    this.until.value = fieldTime(this.end);
    this.adapt();
  }

  /** A rule of several conditions has no single count that could begin afresh, and does not judge again. */
  ofSeveral(several) {
    this.several = several;
    if (several) this.reset.checked = false;
    if (several && this.late.value === "reevaluate") this.late.value = "evaluate";
    this.adapt();
  }

  /** Some functions neither count afresh nor judge again; null: the rule has several. */
  ofAggregate(kind) {
    const once = JUDGED_ONCE.has(kind);
    if (once === this.once) return;
    this.once = once;
    if (once) this.reset.checked = false;
    if (once && this.late.value === "reevaluate") this.late.value = "evaluate";
    this.adapt();
  }

  /** Its part of the definition. What says nothing is left out. */
  read() {
    return {
      firing: this.firing.value,
      lateEvents: this.late.value,
      ...(this.reset.checked ? { resetOnAlert: true } : {}),
      ...(this.count.value.trim()
        ? { cooldownSeconds: Number(this.count.value) * Number(this.unit.value) }
        : {}),
    };
  }

  /** The time from which it is to hold, in ms; null for now. */
  effectiveFrom() {
    return this.since.value ? Date.parse(this.since.value) : null;
  }

  /** The time from which it is to judge nothing, in ms; null for no end. Left as it was it keeps its milliseconds. */
  effectiveUntil() {
    if (!this.until.value) return null;
    return this.until.value === fieldTime(this.end) ? this.end : Date.parse(this.until.value);
  }

  /** What cannot even be sent: `[{field, message}]`. */
  problems() {
    return this.count.validity.badInput && !this.count.disabled
      ? [{ field: "cooldownSeconds", message: "Give a number, or leave it open." }]
      : [];
  }

  /**
   * Judging again has no clear meaning beside an alert that depends on alerts before it: the one switches the
   * other off.
   */
  adapt() {
    const again = this.late.value === "reevaluate";
    const beside = [
      this.firing.value === "crossing" ? "fires only at a crossing" : null,
      this.reset.checked ? "counts afresh after an alert" : null,
      this.count.value.trim() ? "is silent after an alert" : null,
    ].filter(Boolean);
    option(this.firing, "crossing").disabled = again;
    for (const control of [this.reset, this.count, this.unit]) control.disabled = again;
    const neither = this.several || this.once;
    if (neither) this.reset.disabled = true;
    option(this.late, "reevaluate").disabled = neither || (!again && beside.length > 0);
    setText(
      this.hint,
      again
        ? `A rule that judges again fires at each ${ONE} for which it holds: no crossing, no ` +
          `counting afresh, no silence.`
        : this.several
        ? "A rule of several conditions neither counts afresh nor judges again."
        : this.once
        ? `A rule of deviations, or of the ${ONE} before, neither counts afresh nor judges again.`
        : beside.length
        ? `A rule that ${beside.join(" and ")} cannot judge again.`
        : "",
    );
  }
}

function option(select, value) {
  return [...select.options].find((option) => option.value === value);
}

function at(field, ...nodes) {
  return element("div", { dataset: { field } }, nodes);
}
