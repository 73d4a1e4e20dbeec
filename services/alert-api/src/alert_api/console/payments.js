// A few of the payments as they lie in Kafka, whatever the rate.

import { arrange, element } from "./dom.js";
import { decimal, timeOfDay } from "./format.js";
import { feeds } from "./line.js";

const SHOWN = 8;

export class Payments {
  constructor() {
    this.rows = new Map();
    this.body = element("tbody");
    this.note = element("p", { class: "empty" }, "No payments yet.");
    const head = ["Time", "Payer", "Beneficiary", "Type", "Amount"];
    this.element = element("section", { class: "panel", "aria-label": "Sampled payments" },
      element("div", { class: "panel-head" }, element("h2", {}, "Payments"), element("p", { class: "muted small" }, "a few of the newest each second")),
      element("div", { class: "table" }, element("table", { class: "payments" },
        element("thead", {}, element("tr", {}, head.map((text) => element("th", { class: text === "Amount" ? "number" : null, scope: "col" }, text)))),
        this.body)), this.note);
    feeds.payments.listen((feed) => this.take(feed));
  }

  forget() {
    this.rows.clear();
    this.body.replaceChildren();
  }

  take(feed) {
    this.note.hidden = feed.state === "good" && feed.data.items.length > 0;
    if (feed.state === "absent") this.note.textContent = "Kafka is not connected to this console (TRIPLINE_KAFKA).";
    if (feed.state !== "good") return;
    const kept = new Map();
    for (const item of feed.data.items.slice(0, SHOWN)) {
      const place = `${item.partition}-${item.offset}`;
      kept.set(place, this.rows.get(place) ?? row(item));
    }
    this.rows = kept;
    arrange(this.body, [...kept.values()]);
  }
}

function row({ transaction, recordTime, bytes }) {
  if (transaction === null) {
    return element("tr", {}, element("td", {}, timeOfDay(recordTime)),
      element("td", { colspan: 4, class: "muted" }, `not a payment that can be read, ${bytes} bytes`));
  }
  const text = (value) => (value === undefined || value === "" ? "\u2013" : String(value));
  const { payeeId, payerId, beneficiaryId, paymentType, paymentAmount, eventTime, transactionId } = transaction;
  const amount = paymentAmount === undefined ? "\u2013" : decimal(paymentAmount);
  return element("tr", { title: `Transaction ${text(transactionId)}` },
    element("td", {}, timeOfDay(Number.isSafeInteger(eventTime) ? eventTime : recordTime)), element("td", { class: "cut" }, text(payeeId ?? payerId)),
    element("td", { class: "cut" }, text(beneficiaryId)), element("td", {}, text(paymentType)), element("td", { class: "number" }, amount));
}
