// An alert and snoozes: that one covers it, and asking for one about its like.

import { session } from "../core/client.js";
import { button, element } from "../core/dom.js";
import { ANCHORS, sidesOf } from "../core/event_type.js";
import { openSnooze } from "../parts/snooze_form.js";

export function snoozedSentence({ snoozeId = null }) {
  return snoozeId && element(
    "p",
    { class: "judged-again" },
    "Snoozed: it is in no case. ",
    element("a", { href: "/cases/snoozes", "data-go": true }, `Snooze ${snoozeId}`),
  );
}

export function snoozeButton(alert) {
  return session.may("alerts:ack") &&
    button("Snooze\u2026", () => openSnooze(aboutAlert(alert)), { id: "snooze-this" });
}

/** Its rule, its group, and whom rules run by, parties before fields, which cases are about. */
function aboutAlert(alert) {
  const names = Object.keys(alert.group);
  const field = names.find((name) => sidesOf(name).length) ??
    ANCHORS.find((name) => names.includes(name));
  return {
    rule: alert,
    subject: field === undefined ? null : { field, value: alert.group[field] },
    group: alert.group,
    ticked: ["ruleId", "group"],
  };
}
