// One snooze: who asked for what and why, what it suppressed, and what can be done with it.

import { call, Problem, session } from "../core/client.js";
import { button, element, setText, toast } from "../core/dom.js";
import { counted, fullTime } from "../core/format.js";
import { trouble } from "../core/field_errors.js";
import { instantText, scopeText, snoozeTag } from "../words/snooze_words.js";

const DONE = {
  approve: "Approved. It is in force.",
  reject: "Rejected.",
  end: "Ended. What comes from now on is in cases again.",
};

export class SnoozeItem {
  /** `onDone()` is called when it stands otherwise. */
  constructor(snooze, onDone) {
    Object.assign(this, { snooze, onDone });
    this.reason = element("input", {
      class: "wide",
      maxlength: 2000,
      placeholder: "Why",
      "aria-label": `Reason: snooze ${snooze.snoozeId}`,
    });
    this.error = element("p", { class: "error", role: "alert" });
    const acts = this.acts();
    this.element = element(
      "li",
      { class: "rule change snooze", dataset: { snoozeId: snooze.snoozeId, state: snooze.state } },
      element(
        "div",
        { class: "rule-main" },
        element(
          "div",
          { class: "rule-head" },
          element("b", { class: "rule-name" }, scopeText(snooze)),
          snoozeTag(snooze),
        ),
        element("p", {}, `Until ${instantText(snooze.expiresAt)}`),
        element("p", {}, element("q", {}, snooze.reason)),
        this.suppressed(),
        history(snooze).map((text) => element("p", { class: "muted small" }, text)),
        acts.length ? element("div", { class: "change-acts" }, this.reason, acts) : null,
        this.error,
      ),
    );
  }

  suppressed() {
    const { snoozeId, alertCount, lastEventTime } = this.snooze;
    if (!alertCount) return element("p", { class: "muted" }, "It has suppressed nothing.");
    return element(
      "p",
      {},
      element(
        "a",
        { href: `/alerts?snoozeId=${snoozeId}`, "data-go": true },
        `${counted(alertCount, "alert")} suppressed`,
      ),
      `, the newest of ${fullTime(lastEventTime)}`,
    );
  }

  acts() {
    const { snoozeId, state, requestedBy } = this.snooze;
    const isOpen = state === "requested" || state === "in_force";
    const decides = state === "requested" && session.may("rules:approve") && requestedBy !== session.actor;
    const does = (text, act, kind = "quiet") =>
      button(text, () => this.step(act), { kind, "aria-label": `${text}: snooze ${snoozeId}` });
    return [
      decides ? does("Approve", "approve", "primary") : null,
      decides ? does("Reject", "reject") : null,
      isOpen && session.may("alerts:ack")
        ? does(state === "requested" ? "Take back" : "End now", "end")
        : null,
    ].filter(Boolean);
  }

  /** An approval is of what is shown here. */
  async step(act) {
    const { snoozeId, version, contentHash } = this.snooze;
    const reason = this.reason.value.trim();
    setText(this.error, "");
    if (!reason) {
      setText(this.error, "Say why.");
      this.reason.focus();
      return;
    }
    const body = act === "approve" ? { reason, contentHash } : { reason };
    try {
      await call(`/v1/snoozes/${snoozeId}/${act}`, { method: "POST", body, version });
      toast(DONE[act]);
      this.onDone();
    } catch (error) {
      setText(this.error, trouble(error));
      if (error instanceof Problem && [409, 412].includes(error.status)) this.onDone();
    }
  }
}

function history({ snoozeId, requestedBy, requestedAt, decision, ended }) {
  return [
    `Snooze ${snoozeId}, asked for by ${requestedBy}, ${fullTime(requestedAt)}`,
    decision && `${decision.type} by ${said(decision)}`,
    ended && `ended by ${said(ended)}`,
  ].filter(Boolean);
}

function said({ actor, occurredAt, reason }) {
  return `${actor}, ${fullTime(occurredAt)}: ${reason}`;
}
