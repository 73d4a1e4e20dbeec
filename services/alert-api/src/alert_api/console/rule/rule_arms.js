// The arms of a rollout: what counted of each version, and what that says of them.

import { element, tableHead } from "../core/dom.js";
import { figure, fullTime } from "../core/format.js";
import { casesText, precisionText } from "../parts/performance_table.js";

/** Elements, none where the shadow was not rolled out; `versions` are the numbers `{trial, active}`. */
export function armsOf(arms, versions) {
  if (arms === null) return [];
  const { trial, active } = arms;
  return [
    element("h3", {}, "What counted in each arm"),
    element("p", { class: "muted small" }, spansText(arms.spans)),
    table(arms, versions),
    element("p", { class: "arms-told" }, ratioText(arms.ratio, versions)),
    element("p", { class: "arms-told" }, rightText(trial.precision, active.precision, versions)),
    element(
      "p",
      { class: "muted small" },
      "Each range holds in about 95 of 100 cases. That of the alerts goes by groups, as alerts of one group come together.",
    ),
  ];
}

function spansText(spans) {
  const steps = spans.map(({ percent, from }) => `${percent} % of groups since ${fullTime(from)}`);
  return `On trial: ${steps.join("; ")}.`;
}

function table({ trial, active }, versions) {
  const row = (name, told) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      ...[trial, active].map((arm) => element("td", {}, told(arm))),
    );
  return element(
    "div",
    { class: "table", tabindex: 0, role: "region", "aria-label": "Both arms" },
    element(
      "table",
      { class: "arms" },
      tableHead([null, `Version ${versions.trial}, on trial`, `Version ${versions.active}, active`]),
      element(
        "tbody",
        {},
        row(
          "Alerts",
          ({ alerts, groups }) =>
            `${figure(alerts)}, of ${figure(groups)} ${groups === 1 ? "group" : "groups"}`,
        ),
        row(
          "Alerts a day, for each percent of groups",
          ({ alertsPerPercentDay: rate }) => rate === null ? "\u2013" : number(rate),
        ),
        row("Resolved cases", ({ cases }) => casesText(cases)),
        row("Precision", (arm) => precisionText(arm).trim()),
      ),
    ),
  );
}

/** More, fewer, or not to be told: by whether as many lie in the range. */
function ratioText(ratio, { trial, active }) {
  if (ratio === null) {
    return "How their numbers compare cannot be said before both versions have alerts that count.";
  }
  const { value, low, high } = ratio;
  const range = high === null ? `${number(low)} or more` : `${number(low)} to ${number(high)}`;
  const told = `${number(value)} for each alert that version ${active} would have given (${range})`;
  if (low > 1) return `Version ${trial} alerts more often: ${told}.`;
  if (high !== null && high < 1) return `Version ${trial} alerts less often: ${told}.`;
  return `Which of both alerts more often cannot be told yet: version ${trial} gives ${told}.`;
}

function rightText(trial, active, versions) {
  if (trial === null || active === null) {
    return "Which of both is right more often cannot be said before cases of both are decided as fraud or false " +
      "positive.";
  }
  if (trial.low > active.high) return `Version ${versions.trial} is right more often.`;
  if (active.low > trial.high) return `Version ${versions.active} is right more often.`;
  return "Which of both is right more often cannot be told yet: the ranges of their precision overlap.";
}

/** With as many digits as tell something. */
function number(value) {
  return value.toLocaleString("en", { maximumSignificantDigits: value < 10 ? 2 : 3 });
}
