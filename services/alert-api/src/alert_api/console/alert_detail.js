// Everything about one alert: why it tripped, the payment, what counted, what people did.

import { call } from "./client.js";
import { element } from "./dom.js";
import { decimal, fieldName, fullTime, milliseconds, operator, timeOfDay } from "./format.js";

const SHOWN = 10;

export function alertDetail(alert) {
  return element("div", { class: "detail" },
    part("Why it tripped", pairs([
      ["Rule", `${alert.ruleName} (rule ${alert.ruleId}, version ${alert.ruleVersion})`],
      ["Value", `${decimal(alert.value)} ${operator(alert.operator)} ${decimal(alert.limit)}`],
      ["Window", `${timeOfDay(alert.windowStart)} to ${timeOfDay(alert.windowEnd)}`],
      ["Detected", detection(alert)],
      alert.late ? ["Late", `${milliseconds(alert.late.newestEventTime - alert.eventTime)} behind its group`] : null,
    ])),
    part("The payment", pairs(Object.entries(alert.transaction).map(([name, value]) => [
      fieldName(name), value === null ? "\u2013" : /Time(stamp)?$/.test(name) ? fullTime(value) : String(value),
    ]))),
    part("What counted", contributors(alert), "across"),
    part("What happened", history(alert), "across"),
    element("p", { class: "muted small across" }, "Alert ", element("span", { class: "mono" }, alert.alertId)),
  );
}

function detection(alert) {
  const took = alert.ingestedAt === null ? "" : `, ${milliseconds(Math.max(0, alert.detectedAt - alert.ingestedAt))} after it came in`;
  return fullTime(alert.detectedAt) + took;
}

function part(title, content, place = "") {
  return element("section", { class: place }, element("h3", {}, title), content);
}

function pairs(entries) {
  return element("dl", { class: "pairs" },
    entries.filter(Boolean).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function contributors(alert) {
  const { count, transactions } = alert.contributors;
  const shown = transactions.slice(0, SHOWN);
  const rows = shown.map((each) => element("tr", {},
    element("td", { class: "mono" }, each.transactionId),
    element("td", { title: fullTime(each.eventTime) }, timeOfDay(each.eventTime)),
    element("td", { class: "number" }, each.value === null ? "\u2013" : decimal(each.value))));
  return element("div", { class: "table" },
    element("table", {},
      element("thead", {}, element("tr", {}, element("th", {}, "Transaction"), element("th", {}, "Time"),
        element("th", { class: "number" }, "Value"))),
      element("tbody", {}, rows)),
    count > shown.length ? element("p", { class: "muted small" }, `and ${count - shown.length} earlier in the window`) : null);
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
