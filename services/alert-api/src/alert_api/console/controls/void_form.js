// Which transaction is to be voided: its id, and its event time to the millisecond.

import { element, labelled } from "../core/dom.js";
import { capital, IDENTITY } from "../core/event_type.js";
import { fieldName, fullTime } from "../core/format.js";

export class VoidForm {
  constructor() {
    this.id = element("input", {
      id: "void-transaction",
      autocomplete: "off",
      spellcheck: "false",
      maxlength: 64,
    });
    this.time = element("input", { id: "void-time", autocomplete: "off" });
    this.element = element(
      "div",
      { class: "command-form" },
      element(
        "div",
        { dataset: { field: "transactionId" } },
        labelled(`${capital(fieldName(IDENTITY))} id`, this.id),
      ),
      element(
        "div",
        { dataset: { field: "eventTime" } },
        labelled("Event time", this.time, "ms since 1970, or a date and time"),
      ),
    );
  }

  /** As a link of an alert says. */
  write(transactionId, eventTime) {
    this.id.value = transactionId;
    this.time.value = eventTime;
  }

  problems() {
    return [
      this.id.value ? null : { field: "transactionId", message: `Give the ${fieldName(IDENTITY)}'s id.` },
      asTime(this.time.value) === null
        ? { field: "eventTime", message: "Give the event time: ms, or a date and a time." }
        : null,
    ].filter(Boolean);
  }

  read() {
    return { transactionId: this.id.value, eventTime: asTime(this.time.value) };
  }

  inWords() {
    return `${this.id.value} of ${fullTime(asTime(this.time.value))}.`;
  }
}

/** ms since 1970, or null for what is no time: a browser would read a date into almost any number. */
export function asTime(text) {
  const ms = /^\s*\d+\s*$/.test(text) ? Number(text) : /\d.*\d:\d\d/.test(text) ? Date.parse(text) : NaN;
  return Number.isSafeInteger(ms) && ms >= 0 ? ms : null;
}
