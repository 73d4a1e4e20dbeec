// A few of the transactions as they lie in Kafka, whatever the rate.

import { arrange, element, ofNumbers, tableHead } from "../core/dom.js";
import { capital, FIELDS, identityOf, MANY, ONE } from "../core/event_type.js";
import { decimal, timeOfDay } from "../core/format.js";
import { feeds } from "../core/pipeline.js";

const SHOWN = 8;
const TIME = FIELDS.find((field) => field.kind === "timestamp");
const TEXTS = FIELDS.filter((field) => ["string", "enum"].includes(field.kind) && field.role !== "id");
const NUMBERS = FIELDS.filter((field) => field.kind === "decimal");

export class Sampled {
  constructor() {
    this.rows = new Map();
    this.body = element("tbody");
    this.note = element("p", { class: "empty" }, `No ${MANY} yet.`);
    const head = [
      "Time",
      ...TEXTS.map((field) => capital(field.label)),
      ...ofNumbers(...NUMBERS.map((field) => capital(field.label))),
    ];
    this.element = element(
      "section",
      { class: "panel", "aria-label": `Sampled ${MANY}` },
      element(
        "div",
        { class: "panel-head" },
        element("h2", {}, capital(MANY)),
        element("p", { class: "muted small" }, "a few of the newest each second"),
      ),
      element(
        "div",
        { class: "table", tabindex: 0, role: "region", "aria-label": `Newest ${MANY}` },
        element(
          "table",
          { class: "sampled" },
          tableHead(head),
          this.body,
        ),
      ),
      this.note,
    );
    feeds.transactions.listen((feed) => this.take(feed));
  }

  forget() {
    this.rows.clear();
    this.body.replaceChildren();
  }

  take(feed) {
    this.note.hidden = feed.state === "good" && feed.data.items.length > 0;
    if (feed.state === "absent") {
      this.note.textContent = "Kafka is not connected to this console (TRIPLINE_KAFKA).";
    }
    if (feed.state !== "good") return;
    const kept = new Map();
    for (const item of feed.data.items.slice(0, SHOWN)) {
      const key = `${item.partition}-${item.offset}`;
      kept.set(key, this.rows.get(key) ?? row(item));
    }
    this.rows = kept;
    arrange(this.body, [...kept.values()]);
  }
}

function row({ transaction, recordTime, bytes }) {
  if (transaction === null) {
    return element(
      "tr",
      {},
      element("td", {}, timeOfDay(recordTime)),
      element(
        "td",
        { colspan: TEXTS.length + NUMBERS.length, class: "muted" },
        `no ${ONE} that can be read, ${bytes} bytes`,
      ),
    );
  }
  const text = (value) => (value === undefined || value === "" ? "\u2013" : String(value));
  const time = transaction[TIME.name];
  return element(
    "tr",
    { title: `${capital(ONE)} ${text(identityOf(transaction))}` },
    element("td", {}, timeOfDay(Number.isSafeInteger(time) ? time : recordTime)),
    TEXTS.map(({ name }) => element("td", { class: "cut" }, text(transaction[name]))),
    NUMBERS.map(({ name }) =>
      element(
        "td",
        { class: "number" },
        transaction[name] === undefined ? "\u2013" : decimal(transaction[name]),
      )
    ),
  );
}
