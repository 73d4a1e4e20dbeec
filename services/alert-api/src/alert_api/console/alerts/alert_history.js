// The events of one alert: raised, acknowledged, and what it rests on voided.

import { call } from "../core/client.js";
import { element } from "../core/dom.js";
import { capital, ONE } from "../core/event_type.js";
import { fullTime } from "../core/format.js";

/** The list of the alert's events, read when it is made. */
export function alertHistory(alert) {
  const list = element(
    "ol",
    { class: "history" },
    element("li", {}, element("span", { class: "muted" }, "Loading\u2026")),
  );
  call(`/v1/alerts/${alert.alertId}/events`).then(
    ({ body }) => list.replaceChildren(...body.items.map(eventItem)),
    (error) =>
      list.replaceChildren(
        element("li", {}, element("span", { class: "error" }, `Cannot be read now: ${error.message}`)),
      ),
  );
  return list;
}

function eventItem(event) {
  const text = {
    AlertAcknowledged: `Acknowledged by ${event.actor}`,
    AlertVoided: `${capital(ONE)} ${event.voided?.transactionId} voided by ${event.actor}`,
  }[event.type] ??
    "Raised by the engine";
  return element(
    "li",
    {},
    element(
      "div",
      {},
      text,
      element("span", { class: "muted" }, `, ${fullTime(event.occurredAt)}`),
      event.comment ? element("q", {}, event.comment) : null,
    ),
  );
}
