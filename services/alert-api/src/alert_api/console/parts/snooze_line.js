// How much is snoozed now, with the way to the list of snoozes; and the mark of an alert that is.

import { call } from "../core/client.js";
import { element, setText } from "../core/dom.js";
import { counted, figure } from "../core/format.js";

/** What marks an alert that a snooze covers, wherever it is listed; null of others. */
export function snoozedTag({ snoozeId = null }) {
  if (snoozeId === null) return null;
  return element("span", { class: "tag", title: "A snooze covers it: it is in no case" }, "snoozed");
}

export class SnoozeLine {
  /** `tail` says what that means for the list that it stands above. */
  constructor(tail = "") {
    this.tail = tail;
    this.link = element("a", { href: "/cases/snoozes", "data-go": true });
    this.element = element("p", { class: "muted small snooze-line" }, this.link);
    this.forget();
  }

  forget() {
    setText(this.link, "Snoozes");
  }

  /** Where it cannot be read, the link alone is left. */
  async read() {
    try {
      setText(this.link, summaryText((await call("/v1/snoozes/summary")).body, this.tail));
    } catch {
      this.forget();
    }
  }
}

function summaryText({ requested, inForce, suppressedAlerts }, tail) {
  const waiting = requested ? `${counted(requested, "snooze")} to approve` : "";
  if (!inForce) return waiting || "Snoozes";
  const suppressed = `${figure(suppressedAlerts)} ${suppressedAlerts === 1 ? "alert" : "alerts"} suppressed`;
  return [`${counted(inForce, "snooze")} in force`, `${suppressed}${tail}`, waiting].filter(Boolean).join(
    ", ",
  );
}
