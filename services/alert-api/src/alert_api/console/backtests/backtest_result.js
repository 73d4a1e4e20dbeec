// What came of a backtest, rule by rule: figures, pictures, groups, alerts.

import { registry } from "../core/client.js";
import { button, drawing, element } from "../core/dom.js";
import { identityOf, timeOf } from "../core/event_type.js";
import { fieldName, figure, fullTime } from "../core/format.js";
import { sweepCharts } from "../parts/sweep_chart.js";
import { share } from "../words/backtest_words.js";
import { alertsChart, overlapChart } from "./backtest_charts.js";

const DAY_MS = 86_400_000;
const SHOWN = 20;

/** A section for each rule; of one with several limits or windows curves, and one for the rule as it was written. */
export function resultSections(backtest) {
  const names = new Map(backtest.rules.map((rule) => [rule.triedId, rule]));
  const sweeps = sweepCharts(backtest);
  const { rules } = backtest.result;
  const sections = (sweeps.length ? rules.slice(0, 1) : rules).map((rule) =>
    section(backtest, rule, names.get(rule.triedId))
  );
  return [...sweeps, ...sections];
}

function section(backtest, rule, tried) {
  const days = (backtest.to - backtest.from) / DAY_MS;
  const { labelled } = rule;
  const decided = labelled.fraud + labelled.falsePositives;
  const known = decided
    ? `${figure(labelled.fraudFound)} of ${figure(labelled.fraud)} known`
    : "nothing decided yet";
  return element(
    "section",
    { class: "backtest-rule" },
    backtest.rules.length > 1 ? element("h2", {}, tried.name) : null,
    element(
      "dl",
      { class: "backtest-figures" },
      fact("Alerts", figure(rule.alerts), `${figure(rule.alerts / days)} a day`),
      fact("Groups", figure(rule.groups), "with an alert"),
      fact("Precision", share(labelled.precision), decided ? "of what was decided" : "nothing decided yet"),
      fact("Fraud found", share(labelled.recall), known),
    ),
    alertsChart(backtest, rule),
    rule.beside && overlapChart(rule.beside),
    rule.topGroups.length ? groups(rule) : null,
  );
}

function fact(name, value, words) {
  return element(
    "div",
    {},
    element("dt", {}, name),
    element("dd", {}, element("b", {}, value), element("span", { class: "muted small" }, words)),
  );
}

function groups({ topGroups }) {
  const most = Math.max(...topGroups.map(({ alerts }) => alerts));
  return element(
    "div",
    { class: "backtest-groups" },
    element("h3", {}, "Groups with the most alerts"),
    element(
      "ol",
      {},
      topGroups.map(({ group, alerts }) =>
        element(
          "li",
          {},
          element("span", { class: "group-name" }, groupText(group)),
          groupBar(alerts / most),
          element("b", {}, figure(alerts)),
        )
      ),
    ),
  );
}

/** How long it is beside the longest; the figure says how much it is. */
function groupBar(part) {
  return drawing(
    "svg",
    { class: "group-bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    drawing("rect", { class: "bar-tried", width: (100 * part).toFixed(2), height: 8 }),
  );
}

function groupText(group) {
  return Object.entries(group).map(([name, value]) => `${fieldName(name)} ${value}`).join(", ") || "all";
}

/** The alerts themselves, by pages, in the order in which they were given. */
export class TriedAlerts {
  constructor(backtest) {
    this.path = `/backtests/${backtest.backtestId}/alerts`;
    this.names = new Map(backtest.rules.map(({ triedId, name }) => [triedId, name]));
    this.list = element("ol", { class: "tried-alerts" });
    this.error = element("p", { class: "error", role: "alert" });
    this.more = button("Show more", () => this.read(), { class: "quiet wide" });
    this.next = `${this.path}?limit=${SHOWN}`;
    const { keptAlerts } = backtest.result;
    this.element = element(
      "section",
      { class: "backtest-alerts", hidden: keptAlerts === 0 },
      element("h3", {}, "Alerts"),
      element(
        "p",
        { class: "muted small" },
        `${figure(keptAlerts)} are kept, in the order in which they were given.`,
      ),
      this.list,
      this.error,
      this.more,
    );
    if (keptAlerts) this.read();
  }

  async read() {
    this.more.disabled = true;
    try {
      const { body, next } = await registry(this.next);
      this.list.append(...body.items.map((alert) => this.row(alert)));
      this.next = next && this.path + new URL(next, location.origin).search;
      this.more.hidden = !next;
      this.error.textContent = "";
    } catch (error) {
      this.error.textContent = `They cannot be read now: ${error.message}`;
    } finally {
      this.more.disabled = false;
    }
  }

  row(alert) {
    const { transaction } = alert;
    return element(
      "li",
      {},
      element("span", { class: "muted small" }, fullTime(timeOf(transaction))),
      element("span", {}, groupText(alert.group)),
      element(
        "span",
        { class: "muted small" },
        `${this.names.get(alert.ruleId)}, ${identityOf(transaction)}`,
      ),
    );
  }
}
