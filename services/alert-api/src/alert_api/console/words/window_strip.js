// The two windows of a relative limit, on one time line and to scale: the rule's, and the one that its limit was
// measured over.
//
//                                        ┌──┬─┐   the rule's window, what counted in it
//   ┌──┬──────────┬─────────────┬────────┐        the window behind the limit
//   ─────────────────────────────────────────●    the one that tripped

import { measureInWords } from "./definition.js";
import { drawing, element } from "../core/dom.js";
import { identityOf, MANY, ONE } from "../core/event_type.js";
import { counted, decimal, fullTime, operator, timeOfDay } from "../core/format.js";

const WIDTH = 1000;
const ROW = 24;
const GAP = 8;
const HEIGHT = 2 * ROW + 3 * GAP;
const NARROWEST = 4;

/** `condition` is a judged one that has a `limitMeasure`; `number` is its place where there are several. */
export function windowStrip(alert, condition, number = null) {
  const measure = condition.limitMeasure;
  const start = Math.min(condition.windowStart, measure.windowStart);
  const end = Math.max(alert.eventTime, condition.windowEnd, measure.windowEnd);
  const x = (time) => WIDTH * (time - start) / Math.max(1, end - start);
  return element(
    "figure",
    { class: "window-strip" },
    drawing(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": describe(condition, measure),
      },
      row("judged", condition, GAP, x, alert),
      row("behind", measure, 2 * GAP + ROW, x, alert),
      drawing("line", { class: "window-axis", x1: 0, x2: WIDTH, y1: HEIGHT - 1, y2: HEIGHT - 1 }),
    ),
    element(
      "p",
      { class: "chart-foot muted small" },
      element("span", { title: fullTime(start) }, timeOfDay(start)),
      element("span", {}, number === null ? null : `condition ${number}`),
      element("span", { title: fullTime(end) }, timeOfDay(end)),
    ),
    element(
      "figcaption",
      {},
      element(
        "ul",
        { class: "window-legend", "aria-label": "Legend" },
        said("judged", "The rule's window", condition, judgedSo(condition)),
        said("behind", "What its limit was measured over", measure, madeSo(measure)),
      ),
    ),
  );
}

function row(kind, { windowStart, windowEnd, contributors }, y, x, alert) {
  const left = x(windowStart);
  const width = Math.max(NARROWEST, x(windowEnd) - left);
  const marks = contributors.transactions.map((transaction) => {
    const trips = transaction.transactionId === identityOf(alert.transaction);
    const middle = x(transaction.eventTime);
    return drawing(
      "line",
      { class: trips ? "strip-mark trips" : "strip-mark", x1: middle, x2: middle, y1: y, y2: y + ROW },
      drawing("title", {}, `${transaction.transactionId}, ${fullTime(transaction.eventTime)}`),
    );
  });
  return drawing(
    "g",
    { class: `strip-${kind}` },
    drawing("rect", { x: Math.min(left, WIDTH - width), y, width, height: ROW }),
    marks,
  );
}

function said(kind, title, measured, came) {
  return element(
    "li",
    { class: `strip-${kind}` },
    element("span", { class: "strip-key", "aria-hidden": "true" }),
    element(
      "span",
      {},
      element("b", {}, title),
      `: ${measureInWords(measured)} ${came}, of ${counted(measured.contributors.count, ONE, MANY)}, `,
      element(
        "span",
        { class: "muted" },
        `${timeOfDay(measured.windowStart)} to ${timeOfDay(measured.windowEnd)}`,
      ),
    ),
  );
}

function judgedSo({ value, operator: sign, limit }) {
  return `= ${number(value)} ${operator(sign)} ${number(limit)}`;
}

function madeSo({ value, times, plus }) {
  const more = plus === "0" ? "" : ` + ${number(plus)}`;
  return `= ${number(value)}, \u00d7 ${number(times)}${more}`;
}

function number(text) {
  return text === null ? "\u2013" : decimal(text);
}

function describe(condition, measure) {
  const [judged, behind] = [condition, measure].map(({ windowStart, windowEnd, contributors }) =>
    `from ${fullTime(windowStart)} to ${fullTime(windowEnd)}, ${counted(contributors.count, ONE, MANY)}`
  );
  return `Time line: the rule's window ${judged}; its limit was measured over the window ${behind}`;
}
