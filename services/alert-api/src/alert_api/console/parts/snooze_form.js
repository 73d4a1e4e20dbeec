// Asking for a snooze: what of it, until when, and why.

import { call, SignedOut } from "../core/client.js";
import { byId, element, form, labelled, setText, toast } from "../core/dom.js";
import { markField, markFields, markRefusal } from "../core/field_errors.js";
import { fieldName, fieldTime } from "../core/format.js";
import { groupWords, instantText, rfc3339 } from "../words/snooze_words.js";

const DIALOG = "rule-dialog";
const HOUR = 3_600_000;
const OTHER = "other";
const PRESETS = [
  ["1", "1 hour"],
  ["8", "8 hours"],
  ["tomorrow", "Tomorrow 09:00"],
  [OTHER, "Another time"],
];

/** Opens the form for what of `{rule: {ruleId, ruleName}, subject: {field, value}, group}` there is. */
export function openSnooze(about) {
  new SnoozeForm(about).open();
}

class SnoozeForm {
  /** `ticked` names those of the three that are meant at first. */
  constructor({ rule, subject, group, ticked }) {
    this.scope = [
      subject &&
      ["subject", subject, `About ${fieldName(subject.field)} ${subject.value}, whatever the rule`],
      rule && ["ruleId", rule.ruleId, `Rule ${rule.ruleName}`],
      group && Object.keys(group).length > 0 &&
      ["group", group, `The group ${groupWords(group)}, and no other`],
    ].filter(Boolean).map(([name, value, text]) => ({ name, value, text, box: tickBox(name) }));
    for (const { name, box } of this.scope) box.checked = ticked.includes(name);
    this.presets = PRESETS.map(([value, text]) => {
      const input = element("input", {
        type: "radio",
        name: "snooze-until",
        value,
        on: { change: () => this.follow() },
      });
      return { value, input, label: element("label", {}, input, element("span", {}, text)) };
    });
    this.presets[0].input.checked = true;
    this.time = element("input", {
      type: "datetime-local",
      id: "snooze-time",
      step: 1,
      on: { input: () => this.follow() },
    });
    this.timePart = labelled("Until", this.time);
    this.instant = element("p", { class: "hint", id: "snooze-instant", role: "status" });
    this.reason = element("textarea", { id: "snooze-reason", rows: 3, maxlength: 2000 });
    this.error = element("p", { class: "error", role: "alert" });
    this.go = element("button", { class: "primary", type: "submit", id: "snooze-go" }, "Snooze");
  }

  open() {
    this.element = form(
      () => this.send(),
      { class: "rule-form snooze-form" },
      element(
        "p",
        { class: "muted" },
        "Alerts are raised and kept as ever, and counted; they are in no case meanwhile. What is there already stays.",
      ),
      element(
        "fieldset",
        { class: "snooze-scope" },
        element("legend", { class: "field-name" }, "Alerts that are all of this"),
        this.scope.map(({ box, text }) =>
          element("label", { class: "check", for: box.id }, box, element("span", {}, text))
        ),
      ),
      element(
        "fieldset",
        { class: "snooze-until" },
        element("legend", { class: "field-name" }, "For how long"),
        element("div", { class: "segments" }, this.presets.map(({ label }) => label)),
      ),
      this.timePart,
      this.instant,
      labelled("Reason", this.reason, "For those who look at it later, and for who approves it."),
      this.error,
      element("div", { class: "dialog-end" }, this.go),
    );
    this.time.value = fieldTime(Date.now() + HOUR);
    this.follow();
    setText(byId(`${DIALOG}-title`), "Snooze");
    byId(`${DIALOG}-body`).replaceChildren(this.element);
    byId(DIALOG).showModal();
    this.scope[0].box.focus();
  }

  /** In ms; NaN where none is chosen. */
  until() {
    const chosen = this.presets.find(({ input }) => input.checked).value;
    if (chosen === OTHER) return Date.parse(this.time.value);
    if (chosen !== "tomorrow") return Date.now() + Number(chosen) * HOUR;
    const now = new Date();
    return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 9).getTime();
  }

  follow() {
    this.timePart.hidden = this.presets.every(({ value, input }) => value !== OTHER || !input.checked);
    const until = this.until();
    setText(
      this.instant,
      Number.isFinite(until) ? `Until ${instantText(until)}` : "Say until when, with date and time.",
    );
  }

  async send() {
    const chosen = this.scope.filter(({ box }) => box.checked);
    const until = this.until();
    const reason = this.reason.value.trim();
    setText(this.error, "");
    markFields(this.element, []);
    if (!chosen.length) {
      return this.miss(this.scope[0].box, "Tick at least one of these, or it would be everything.");
    }
    if (!Number.isFinite(until)) return this.miss(this.time, "Say until when, with date and time.");
    if (!reason) return this.miss(this.reason, "Say why.");
    const scope = Object.fromEntries(chosen.map(({ name, value }) => [name, value]));
    this.go.disabled = true;
    try {
      const { status, body } = await call("/v1/snoozes", {
        method: "POST",
        body: { ...scope, until: rfc3339(until), reason },
      });
      byId(DIALOG).close();
      byId(`${DIALOG}-body`).replaceChildren();
      toast(
        status === 202
          ? `Nothing is snoozed yet: snooze ${body.snoozeId} waits for its approval, under Cases.`
          : `Snoozed until ${instantText(body.expiresAt)}.`,
      );
    } catch (error) {
      if (error instanceof SignedOut) byId(DIALOG).close();
      else markRefusal(this.element, error, this.inputs(), this.error);
    } finally {
      this.go.disabled = false;
    }
    return undefined;
  }

  miss(field, text) {
    markField(this.element, field, text);
  }

  /** By the names that the API has for them. */
  inputs() {
    const scope = Object.fromEntries(this.scope.map(({ name, box }) => [name, box]));
    const until = this.timePart.hidden ? this.presets[0].input : this.time;
    return { ...scope, until, reason: this.reason };
  }
}

function tickBox(name) {
  return element("input", { type: "checkbox", id: `snooze-${name}` });
}
