// What versions of rules are worth, as a table: alerts, what became of their cases, how often they were right.

import { element, tableHead } from "../core/dom.js";
import { counted, figure, span } from "../core/format.js";

const OUTCOMES = [
  ["confirmed_fraud", "fraud"],
  ["false_positive", "false positive"],
  ["known_accepted", "known and accepted"],
  ["inconclusive", "inconclusive"],
];

/** `named`: whether a row says its rule, which is a link. */
export function performanceTable(rows, named) {
  const head = ["Version", "Alerts", "Resolved cases", "Precision", "Resolved in"];
  return element(
    "div",
    { class: "table", tabindex: 0, role: "region", "aria-label": "What versions are worth" },
    element(
      "table",
      { class: "performance" },
      tableHead(named ? ["Rule", ...head] : head),
      element("tbody", {}, rows.map((row) => line(row, named))),
    ),
  );
}

function line(row, named) {
  const rule = element(
    "a",
    { href: `/rules/${row.ruleId}`, "data-go": true },
    row.ruleName || `rule ${row.ruleId}`,
  );
  return element(
    "tr",
    {},
    named ? element("td", { class: "words" }, rule) : null,
    element("td", {}, `v${row.ruleVersion}`),
    element("td", {}, figure(row.alerts)),
    element("td", {}, casesText(row.cases)),
    element(
      "td",
      { class: "words" },
      precisionText(row),
      row.alwaysWrong && element("span", { class: "tag warn" }, "always wrong"),
    ),
    element(
      "td",
      { class: row.resolvedIn ? "words" : null },
      row.resolvedIn ? inTime(row.resolvedIn) : "\u2013",
    ),
  );
}

/** The outcomes that there are, with their numbers. */
export function casesText(cases) {
  const said = OUTCOMES.filter(([outcome]) => cases[outcome] > 0).map(([outcome, text]) =>
    `${figure(cases[outcome])} ${text}`
  );
  return said.join(", ") || "none";
}

/** With its range and what it is of. */
export function precisionText({ precision, cases }) {
  if (precision === null) return "\u2013 ";
  const decided = counted(cases.confirmed_fraud + cases.false_positive, "case");
  return `${percent(precision.value)} (${percent(precision.low)} to ${
    percent(precision.high)
  }, of ${decided}) `;
}

function percent(share) {
  return `${Math.round(100 * share)} %`;
}

function inTime({ median, p95 }) {
  return `${span(Math.max(0, Math.round(median / 1000)))}, 95 % in ${
    span(Math.max(0, Math.round(p95 / 1000)))
  }`;
}
