// One rejected record: why, its text or bytes, what was decided, and the form to decide with.

import { call, session } from "../core/client.js";
import { element, setText } from "../core/dom.js";
import { counted, figure, fullTime } from "../core/format.js";
import { CAUSES, STATES, withTimes } from "./reject_words.js";
import { RepairForm } from "./repair_form.js";

const WAIT_MS = 500;
const BYTES = 512;

export class RejectedItem {
  /** `onChange()` is called when something was decided. */
  constructor(record, onChange) {
    Object.assign(this, { record, onChange });
    this.state = element("span", { class: "tag" });
    this.told = element("p", { class: "muted small" });
    this.inside = element("div", { class: "stack reject-inside" });
    this.details = element(
      "details",
      { on: { toggle: () => this.details.open && this.look() } },
      element("summary", {}, "Look at it"),
      this.inside,
    );
    this.element = element(
      "li",
      { class: "rule", dataset: { record: record.id } },
      element(
        "div",
        { class: "rule-main" },
        element(
          "div",
          { class: "rule-head" },
          element("b", { class: "rule-name" }, CAUSES[record.reason] ?? record.reason),
          this.state,
          element("span", { class: "mono muted small" }, record.id),
        ),
        element("p", { class: "reject-detail", title: record.detail }, withTimes(record.detail)),
        element(
          "p",
          { class: "muted small" },
          `${fullTime(record.rejectedAt)}, ${counted(record.length, "byte")}`,
          record.corrects ? `, sent to correct ${record.corrects}` : null,
        ),
        this.told,
        this.details,
      ),
    );
    this.tell();
  }

  tell() {
    const { state, decision, sentTo } = this.record;
    setText(this.state, STATES[state]);
    this.state.dataset.state = state;
    this.told.hidden = !decision;
    if (!decision) return;
    const done = decision.kind === "discard" ? "discarded" : "sent again";
    const where = sentTo ? `, as ${sentTo.partition}-${sentTo.offset}` : "";
    this.told.replaceChildren(
      `${done} by ${decision.actor}, ${fullTime(decision.decidedAt)}${where}: `,
      element("q", {}, decision.reason),
    );
  }

  async look() {
    if (this.inside.children.length) return;
    try {
      const { body } = await call(`/v1/rejected-records/${this.record.id}`);
      this.show(body);
    } catch (error) {
      this.inside.replaceChildren(element("p", { class: "error", role: "alert" }, error.message));
    }
  }

  show(whole) {
    this.record = whole;
    this.tell();
    this.inside.replaceChildren(
      ...[
        contentOf(whole),
        whole.sentText !== null && element("p", { class: "small" }, "What was sent in its stead:"),
        whole.sentText !== null && element("pre", { class: "reject-text" }, whole.sentText),
        whole.state === "open" && session.may("controls:write") &&
        new RepairForm(whole, (record) => this.decided(record)).element,
      ].filter(Boolean),
    );
  }

  decided(record) {
    this.show(record);
    this.onChange();
    if (record.state === "queued") this.follow();
  }

  /** Until the broker has it, or nobody looks any more. */
  async follow() {
    while (this.record.state === "queued" && this.element.isConnected) {
      await new Promise((again) => setTimeout(again, WAIT_MS));
      try {
        const { body } = await call(`/v1/rejected-records/${this.record.id}`);
        if (body.state !== this.record.state) this.show(body);
      } catch {
        // it is asked again
      }
    }
    this.onChange();
  }
}

function contentOf({ text, valueBase64, isWhole, length }) {
  if (valueBase64 === null) return element("p", { class: "muted" }, "The record had no value.");
  const shown = text ?? hexOf(valueBase64);
  const notes = [
    text === null && `No text in UTF-8: its first ${BYTES} bytes at most, in hexadecimal.`,
    !isWhole && `Only the beginning is here; the whole had ${figure(length)} bytes.`,
  ].filter(Boolean);
  return element(
    "div",
    {},
    notes.map((note) => element("p", { class: "muted small" }, note)),
    element("pre", { class: "reject-text", tabindex: 0, "aria-label": "The record as it came" }, shown),
  );
}

function hexOf(base64) {
  const bytes = [...atob(base64)].slice(0, BYTES);
  return bytes.map((byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join(" ");
}
