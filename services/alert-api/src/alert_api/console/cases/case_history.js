// What happened to a case, newest first.

import { element } from "../core/dom.js";
import { fullTime } from "../core/format.js";
import { outcomeName } from "../words/outcomes.js";

const TEXTS = {
  CaseOpened: () => "Opened by an alert",
  CaseReopened: ({ actor }) => (actor === null ? "Reopened: something new came" : `Reopened by ${actor}`),
  CaseAcknowledged: ({ actor }) => `Acknowledged by ${actor}`,
  CaseAssigned: ({ actor, assignee }) =>
    actor === assignee ? `Claimed by ${actor}` : `Assigned to ${assignee} by ${actor}`,
  CaseResolved: ({ actor, outcome }) => `Resolved by ${actor}: ${outcomeName(outcome)}`,
  CaseCommented: ({ actor }) => `${actor} wrote`,
};

export function caseHistory(events) {
  return element(
    "ol",
    { class: "history", id: "case-history" },
    events.map((event) =>
      element(
        "li",
        {},
        element(
          "div",
          {},
          TEXTS[event.type]?.(event) ?? event.type,
          element("span", { class: "muted" }, `, ${fullTime(event.occurredAt)}`),
          event.comment ? element("q", {}, event.comment) : null,
        ),
      )
    ),
  );
}
