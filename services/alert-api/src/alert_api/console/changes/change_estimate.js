// What the rule of a change is estimated to say and cost, how far the estimate is, and what its first day gave.

import { element, ofNumbers, tableHead } from "../core/dom.js";
import { bytes, figure, fullTime } from "../core/format.js";

const DAY_MS = 86_400_000;
const HEADS = [null, ...ofNumbers("Estimate", "Likely range", "First day")];

export class ChangeEstimate {
  constructor() {
    this.element = element("section", { class: "estimate", "aria-label": "Estimate", hidden: true });
    this.shown = null;
  }

  /** `estimate` as the registry tells it, null where there is none to make; `open`: somebody has still to decide. */
  tell(estimate, open) {
    const shown = JSON.stringify([estimate, open]);
    if (shown === this.shown) return;
    this.shown = shown;
    const nodes = estimate === null ? [] : contents(estimate, open);
    this.element.replaceChildren(...nodes);
    this.element.hidden = nodes.length === 0;
  }
}

function contents({ state, note, failure, sample, figures, actual }, open) {
  if (state === "done") {
    return [table(figures, actual), small(basis(sample)), actual ? small(whatIsActual(actual)) : null]
      .filter(Boolean);
  }
  if (state === "failed") return [small(`No estimate: it failed, because ${failure}`)];
  // of what was decided on long ago nobody waits for one
  if (state === "unavailable") return open ? [small(`No estimate: ${note}`)] : [];
  const waits = state === "running"
    ? "The estimate is being made."
    : "No estimate yet: it is made in a while.";
  return [small(note ? `${waits} ${note}` : waits)];
}

function table({ alertsPerDay, groupsPerDay, bytes: held, evaluationsPerSecond }, actual) {
  const rows = [
    ["Alerts a day", alertsPerDay, count, actual && figure(actual.alerts)],
    ["Groups alerted on a day", groupsPerDay, count, actual && figure(actual.groups)],
    ["Memory held", held, (text) => bytes(Number(text)), null],
    ["Evaluations a second", evaluationsPerSecond, count, null],
  ];
  const body = rows.map(([title, told, words, gave]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, title),
      element("td", { class: "number" }, words(told.value)),
      element(
        "td",
        { class: "number" },
        told.low === null ? "\u2013" : `${words(told.low)} to ${words(told.high)}`,
      ),
      element("td", { class: "number" }, gave ?? "\u2013"),
    )
  );
  return element(
    "div",
    { class: "table", tabindex: 0, role: "region", "aria-label": "Figures" },
    element("table", {}, tableHead(HEADS), element("tbody", {}, body)),
  );
}

function basis({ parts, grouped, from, to, transactions }) {
  const share = !grouped
    ? "from the one group that it has"
    : parts === 1
    ? "from all groups"
    : `from one of ${parts} parts of the groups`;
  const days = figure((to - from) / DAY_MS);
  return `Estimated ${share}, ${fullTime(from)} to ${fullTime(to)} (days: ${days}, read: ${
    figure(transactions)
  }). In 95 of 100 cases a day lies within the range, if days stay as they were.`;
}

function whatIsActual({ from, to }) {
  const hours = (to - from) / 3_600_000;
  const whole = hours >= 23.99 ? "" : ` The rule was changed again after ${figure(hours)} h.`;
  return `The first day began at ${fullTime(from)}.${whole}`;
}

/** Of what is rare two places: it happens once in so many days. */
function count(text) {
  const number = Number(text);
  return number > 0 && number < 1 ? String(Number(number.toPrecision(2))) : figure(number);
}

function small(text) {
  return element("p", { class: "muted small" }, text);
}
