// Everything about one alert: why it tripped, its window, the payment, what counted, what people did.

import { facts, taken } from "./alert_row.js";
import { openAcknowledge } from "./acknowledge.js";
import { Problem, call, session } from "./client.js";
import { button, element } from "./dom.js";
import { counted, decimal, fieldName, fullTime, milliseconds, operator, timeOfDay } from "./format.js";
import { feeds } from "./line.js";
import { windowPicture } from "./window_picture.js";

const SHOWN = 10;

export class AlertPage {
  constructor() {
    this.element = element("article", { class: "alert-page", hidden: true });
    this.forget();
  }

  forget() {
    Object.assign(this, { id: null, alert: null });
    this.element.replaceChildren();
  }

  async open(id, back) {
    if (this.id === id) return;
    this.forget();
    Object.assign(this, { id, back });
    this.element.append(this.backLink(), element("p", { class: "muted" }, "Loading\u2026"));
    await this.read();
  }

  async read() {
    const { id } = this;
    try {
      const { body } = await call(`/v1/alerts/${id}`);
      if (this.id === id) this.show(body);
    } catch (error) {
      if (this.id !== id) return;
      const text = error instanceof Problem && error.status === 404 ? "There is no such alert." : `It cannot be read now: ${error.message}`;
      this.element.replaceChildren(this.backLink(), element("p", { class: "error" }, text),
        button("Try again", () => this.read()));
    }
  }

  reread() {
    if (this.id !== null) this.read();
  }

  /** The same alert as it is now: somebody may have acknowledged it meanwhile. */
  replace(alert) {
    if (this.alert?.alertId === alert.alertId && this.alert.state !== alert.state) this.show({ ...this.alert, ...alert });
  }

  backLink() {
    return element("a", { class: "back", href: this.back, "data-go": true }, "\u2190 All alerts");
  }

  show(alert) {
    this.alert = alert;
    const rule = feeds.rules.data?.find((each) => each.ruleId === alert.ruleId && each.definitionVersion === alert.ruleVersion);
    this.element.replaceChildren(this.backLink(),
      element("header", { class: "alert-head", dataset: { state: alert.state } },
        element("div", {}, element("h1", {}, alert.ruleName), facts(alert)),
        alert.state === "open" ? this.acknowledgeButton(alert) : taken(alert)),
      part("The window", windowPicture(alert, rule?.definition), "across"),
      element("div", { class: "detail" },
        part("Why it tripped", pairs(why(alert))),
        part("The payment", pairs(Object.entries(alert.transaction).map(([name, value]) => [
          fieldName(name), value === null ? "\u2013" : /Time(stamp)?$/.test(name) ? fullTime(value) : name === "paymentAmount" ? decimal(value) : String(value),
        ]))),
        part("What counted", contributors(alert)),
        part("What happened", history(alert))),
      element("p", { class: "muted small" }, "Alert ", element("span", { class: "mono" }, alert.alertId)));
  }

  acknowledgeButton(alert) {
    const may = session.may("alerts:ack");
    return button("Acknowledge", () => openAcknowledge(alert), { kind: "primary", disabled: !may, id: "acknowledge-this",
      title: may ? null : "Your key may not acknowledge" });
  }
}

function why(alert) {
  return [
    ["Rule", element("a", { href: "/rules", "data-go": true }, `rule ${alert.ruleId}, version ${alert.ruleVersion}`)],
    ["Value", `${decimal(alert.value)} ${operator(alert.operator)} ${decimal(alert.limit)}`],
    ["Window", `${timeOfDay(alert.windowStart)} to ${timeOfDay(alert.windowEnd)}, both included`],
    ["Counted", counted(alert.contributors.count, "payment")],
    ["Detected", detection(alert)],
    alert.late ? ["Late", alert.late.newestEventTime === undefined ? `brought to light by ${alert.late.transactionId}`
      : `${milliseconds(alert.late.newestEventTime - alert.eventTime)} behind the newest of its group`] : null,
    alert.partial ? ["Caught up", "found when the rule was put in force for the past"] : null,
    alert.warm === false ? ["Window", "may lack payments from before the engine knew this rule"] : null,
  ];
}

function detection(alert) {
  const took = alert.ingestedAt === null ? "" : `, ${milliseconds(Math.max(0, alert.detectedAt - alert.ingestedAt))} after the payment came in`;
  return fullTime(alert.detectedAt) + took;
}

function part(title, content, place = "") {
  return element("section", { class: place }, element("h2", {}, title), content);
}

function pairs(entries) {
  return element("dl", { class: "pairs" },
    entries.filter(Boolean).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function contributors(alert) {
  const { count, transactions } = alert.contributors;
  const body = element("tbody");
  const more = element("div");
  const show = (number) => {
    body.replaceChildren(...transactions.slice(0, number).map((each) => element("tr", { class: each.transactionId === alert.transaction.transactionId ? "trips" : null },
      element("td", { class: "mono" }, each.transactionId),
      element("td", { title: fullTime(each.eventTime) }, timeOfDay(each.eventTime)),
      element("td", { class: "number" }, each.value === null ? "\u2013" : decimal(each.value)))));
    const listed = Math.min(number, transactions.length);
    more.replaceChildren(...[
      listed < transactions.length ? button(`Show all ${transactions.length}`, () => show(transactions.length)) : null,
      count > transactions.length ? element("p", { class: "muted small" }, `The newest ${transactions.length} of ${count} are kept with the alert.`) : null,
    ].filter(Boolean));
  };
  show(SHOWN);
  return element("div", { class: "table" },
    element("table", {},
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Transaction"), element("th", { scope: "col" }, "Time"),
        element("th", { class: "number", scope: "col" }, "Value"))), body), more);
}

function history(alert) {
  const list = element("ol", { class: "history" }, element("li", {}, element("span", { class: "muted" }, "Loading\u2026")));
  call(`/v1/alerts/${alert.alertId}/events`).then(
    ({ body }) => list.replaceChildren(...body.items.map(happening)),
    (error) => list.replaceChildren(element("li", {}, element("span", { class: "error" }, `Cannot be read now: ${error.message}`))),
  );
  return list;
}

function happening(event) {
  const text = event.type === "AlertAcknowledged" ? `Acknowledged by ${event.actor}` : "Raised by the engine";
  return element("li", {}, element("div", {}, text, element("span", { class: "muted" }, `, ${fullTime(event.occurredAt)}`),
    event.comment ? element("q", {}, event.comment) : null));
}
