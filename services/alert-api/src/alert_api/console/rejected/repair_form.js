// Correcting a rejected record and sending it again, or leaving it as it is: either with a reason, and once.

import { call } from "../core/client.js";
import { button, element, form, labelled, setText } from "../core/dom.js";
import { markFields } from "../core/field_errors.js";
import { ADVICE } from "./reject_words.js";

export class RepairForm {
  /** `onDecided(record)` is called with what the service answers. */
  constructor(record, onDecided) {
    Object.assign(this, { record, onDecided });
    const id = record.id;
    this.value = element("textarea", {
      id: `repair-value-${id}`,
      class: "mono",
      rows: 6,
      spellcheck: "false",
      autocapitalize: "none",
    });
    this.value.value = record.isWhole ? record.text ?? "" : "";
    this.reason = element("input", { id: `repair-reason-${id}`, maxlength: 2000, autocomplete: "off" });
    this.backfill = element("input", {
      id: `repair-backfill-${id}`,
      class: "mono",
      maxlength: 36,
      autocomplete: "off",
      spellcheck: "false",
    });
    this.error = element("p", { class: "error", role: "alert" });
    this.send = element("button", { class: "primary", type: "submit" }, "Send again");
    this.discard = button("Discard", () => this.decide("discard", { reason: this.reason.value.trim() }));
    this.parts = {
      value: labelled("The record as it is to be sent", this.value, ADVICE[record.reason]),
      backfillId: labelled(
        "In a backfill (optional)",
        this.backfill,
        "The id of one that was started under Controls and not ended.",
      ),
      reason: labelled("Reason", this.reason, "For those who read it later."),
    };
    this.element = form(
      () => this.sendAgain(),
      { class: "rule-form key-form" },
      ...Object.values(this.parts),
      this.error,
      element("div", { class: "dialog-end" }, this.discard, this.send),
    );
  }

  sendAgain() {
    const body = {
      reason: this.reason.value.trim(),
      value: this.value.value,
      backfillId: this.backfill.value.trim() || null,
    };
    return this.decide("send-again", body);
  }

  async decide(step, body) {
    setText(this.error, "");
    const missing = body.reason ? [] : [{ field: "reason", message: "Say why, in a few words." }];
    if (markFields(this.element, missing, (field) => this.parts[field]).length || missing.length) return;
    for (const way of [this.send, this.discard]) way.disabled = true;
    try {
      const answer = await call(`/v1/rejected-records/${this.record.id}/${step}`, { method: "POST", body });
      this.onDecided(answer.body);
    } catch (error) {
      const rest = markFields(this.element, error.body?.errors ?? [], (field) => this.parts[field]);
      setText(this.error, error.body?.errors && !rest.length ? "" : rest.join("; ") || error.message);
    } finally {
      for (const way of [this.send, this.discard]) way.disabled = false;
    }
  }
}
