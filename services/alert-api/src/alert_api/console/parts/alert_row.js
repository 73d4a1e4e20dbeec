// One alert in a list: a line that leads to the alert.

import { element, setText } from "../core/dom.js";
import { MANY, ONE } from "../core/event_type.js";
import { ago, fieldName, fullTime, timeOfDay } from "../core/format.js";
import { session } from "../core/client.js";
import { purposeOf } from "../core/purposes.js";
import { severityTag } from "./purpose_facts.js";
import { ruleLink } from "./rule_link.js";
import { snoozedTag } from "./snooze_line.js";
import { cameTo } from "../words/verdict.js";
import { bounds, inBuckets } from "../words/precision.js";
import { voidedTag } from "../words/void_marks.js";

export function summary(alert) {
  const pairs = Object.entries(alert.group).map(([name, value]) => `${fieldName(name)} ${value}`);
  const group = `${pairs.join(", ")}${alert.side ? ` as ${alert.side}` : ""}`;
  return `${alert.ruleName}${group ? `, ${group}` : ""}: ${cameTo(alert).join("")}`;
}

/** Of an alert that a late transaction brought about, a sentence about it; else null. */
export function judgedAgain({ late }) {
  if (late?.transactionId === undefined) return null;
  return `Judged again when the late ${ONE} ${late.transactionId} of ${fullTime(late.eventTime)} came in`;
}

/** Of a group by amounts that are about the same, how far apart they may be. */
function steps({ groupingKeyNames }, name) {
  const stepped = groupingKeyNames?.find((key) => key.field === name);
  return stepped ? ` in steps of ${stepped.step}` : null;
}

export function facts(alert) {
  const again = judgedAgain(alert);
  const [value, rest] = cameTo(alert);
  return element(
    "span",
    { class: "alert-facts" },
    element("span", { class: "measure" }, element("b", {}, value), rest),
    Object.entries(alert.group).map(([name, value]) =>
      element("span", { class: "tag" }, `${fieldName(name)} `, element("b", {}, value), steps(alert, name))
    ),
    alert.side ? element("span", { class: "tag" }, `as ${alert.side}`) : null,
    voidedTag(alert),
    snoozedTag(alert),
    bucketedTag(alert),
    again ? element("span", { class: "tag warn", title: again }, "judged again") : null,
    alert.late && !again ? element("span", { class: "tag warn" }, "late") : null,
    alert.partial && !again
      ? element(
        "span",
        { class: "tag", title: "Found when the rule was put in force for the past" },
        "caught up",
      )
      : null,
    alert.warm === false
      ? element("span", {
        class: "tag",
        title: `The window may lack ${MANY} from before the engine knew this rule`,
      }, "window not full")
      : null,
  );
}

/** Of a chained alert every condition is: each says its bounds. */
function bucketedTag({ precision, conditions }) {
  const first = precision ?? conditions?.[0]?.precision;
  if (!first) return null;
  const title = `Windows ${inBuckets(first.bucketSeconds)}${precision ? `: ${bounds(precision)}` : ""}`;
  return element("span", { class: "tag", title }, "bucketed");
}

/** What may change of its facts. */
function marks({ voided, snoozeId }) {
  return `${voided?.length ?? 0} ${snoozeId ?? ""}`;
}

/** The row keeps its element for as long as the alert is shown: focus stays where it is. */
export class AlertRow {
  constructor(alert, onAcknowledge, search = "") {
    this.onAcknowledge = onAcknowledge;
    this.age = element("span");
    this.end = element("div", { class: "alert-end" });
    this.facts = facts(alert);
    this.severity = element("span", { class: "alert-severity" });
    const iso = new Date(alert.eventTime).toISOString();
    this.element = element(
      "li",
      { class: "alert" },
      element(
        "div",
        { class: "alert-row" },
        element(
          "a",
          { class: "alert-open", href: `/alerts/${alert.alertId}${search}`, "data-go": true },
          element("span", { class: "alert-name" }, alert.ruleName, this.severity),
          this.facts,
        ),
        element(
          "div",
          { class: "alert-when" },
          element("time", { datetime: iso, title: fullTime(alert.eventTime) }, timeOfDay(alert.eventTime)),
          element(
            "span",
            {},
            this.age,
            " \u00b7 ",
            element("a", {
              ...ruleLink(alert),
              "aria-label": `Rule ${alert.ruleName}, version ${alert.ruleVersion}`,
              title: "Its rule",
            }, `v${alert.ruleVersion}`),
          ),
        ),
        this.end,
      ),
    );
    this.update(alert);
  }

  /** Shows a change of state, and what was voided or snoozed since; what the engine said never changes. */
  update(alert) {
    if (this.alert && marks(this.alert) !== marks(alert)) {
      const fresh = facts(alert);
      this.facts.replaceWith(fresh);
      this.facts = fresh;
    }
    this.alert = alert;
    if (this.element.dataset.state === alert.state) return;
    this.element.dataset.state = alert.state;
    this.end.replaceChildren(alert.state === "open" ? this.button() : taken(alert));
  }

  /** Stands out for a moment; the class goes again, as a row that is moved would stand out anew. */
  arrive() {
    this.element.classList.add("fresh");
    this.element.addEventListener("animationend", () => this.element.classList.remove("fresh"), {
      once: true,
    });
  }

  tick(now) {
    setText(this.age, ago(this.alert.eventTime, now));
    // The rules may be read after the alerts, and what they are for may change.
    const tag = severityTag(purposeOf(this.alert.ruleId));
    if (this.severity.textContent !== (tag?.textContent ?? "")) {
      this.severity.replaceChildren(...[tag ?? []].flat());
    }
  }

  /** Who may not acknowledge it reads that nobody has. */
  button() {
    if (!session.may("alerts:ack")) return element("span", { class: "muted small" }, "open");
    return element("button", {
      type: "button",
      class: "quiet",
      "aria-label": `Acknowledge: ${summary(this.alert)}`,
      on: { click: () => this.onAcknowledge(this.alert) },
    }, "Acknowledge");
  }
}

export function taken(alert) {
  return element(
    "div",
    { class: "taken", title: alert.acknowledgementComment ?? "" },
    `\u2713 ${alert.acknowledgedBy}`,
    element("small", {}, timeOfDay(alert.acknowledgedAt)),
  );
}
