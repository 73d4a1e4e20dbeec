// The newest alerts of one rule, each with the version that raised it, and the way to all of them.

import { call } from "../core/client.js";
import { element } from "../core/dom.js";
import { fieldName, fullTime, timeOfDay } from "../core/format.js";
import { snoozedTag } from "../parts/snooze_line.js";
import { cameTo } from "../words/verdict.js";

const SHOWN = 5;

export class RuleAlerts {
  constructor(ruleId) {
    Object.assign(this, { ruleId, shown: null });
    this.list = element("ol", { class: "rule-alerts", "aria-label": "Its newest alerts" });
    this.empty = element("p", { class: "muted" }, "Asking\u2026");
    const all = { href: `/alerts?ruleId=${ruleId}`, "data-go": true };
    this.element = element(
      "section",
      {},
      element("h2", {}, "Alerts"),
      this.list,
      this.empty,
      element("p", { class: "small" }, element("a", all, "All its alerts")),
    );
  }

  /** A rule that is not published has none. */
  async take(rule) {
    this.element.hidden = rule === null;
    if (rule === null) return;
    try {
      const { body } = await call(`/v1/alerts?ruleId=${this.ruleId}&limit=${SHOWN}`);
      this.show(body.items);
    } catch (error) {
      this.empty.textContent = `They cannot be read now: ${error.message}`;
      this.empty.hidden = false;
    }
  }

  show(alerts) {
    this.empty.textContent = "It has raised none.";
    this.empty.hidden = alerts.length > 0;
    const shown = JSON.stringify(alerts);
    if (shown === this.shown) return;
    this.shown = shown;
    this.list.replaceChildren(...alerts.map(line));
  }
}

function line(alert) {
  const group = Object.entries(alert.group).map(([name, value]) => `${fieldName(name)} ${value}`).join(", ");
  return element(
    "li",
    { dataset: { state: alert.state } },
    element(
      "a",
      { href: `/alerts/${alert.alertId}?ruleId=${alert.ruleId}`, "data-go": true },
      group ? `${group}: ` : "",
      cameTo(alert).join(""),
    ),
    element(
      "span",
      { class: "muted small" },
      element("time", { title: fullTime(alert.eventTime) }, timeOfDay(alert.eventTime)),
      element("span", { class: "tag" }, "by ", element("b", {}, `v${alert.ruleVersion}`)),
      snoozedTag(alert),
    ),
  );
}
