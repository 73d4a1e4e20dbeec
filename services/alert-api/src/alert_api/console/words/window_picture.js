// One alert's window, drawn: which transactions counted, when, and how they added up to the limit.
//
//   limit  - - - - - - - - - - - - - - - - -●--     where values add up the line climbs
//                             ┌────┐┌───────┘
//   ────────────┬───┬─────────┘    │
//   windowStart x1  x2             x3     the one that tripped

import { drawing, element } from "../core/dom.js";
import { identityOf, MANY, ONE } from "../core/event_type.js";
import { decimal, fullTime, milliseconds, span, timeOfDay } from "../core/format.js";
import { cameTo } from "./verdict.js";
import { functionOf, shownValue, steps } from "./measure.js";

const WIDTH = 800;
const HEIGHT = 190;
const BASE = 168;
const TOP = 22;

export function windowPicture(alert, definition) {
  const end = alert.windowEnd;
  const start = firstShown(alert);
  const wide = Math.max(1, end - start);
  const x = (time) => 14 + (WIDTH - 28) * (time - start) / wide;
  const counted = [...alert.contributors.transactions].reverse();
  const kind = functionOf(alert, definition);
  const added = steps(alert, kind);
  const scale = heights(alert, counted, added !== null);
  const marks = counted.map((transaction) =>
    mark(transaction, x(transaction.eventTime), added ? null : scale(Number(transaction.value)), alert, kind)
  );
  const limit = Number(alert.limit);
  const limitAt = scale(limit);
  const hasLimit = alert.limit !== null && limitAt >= TOP - 12 && limitAt <= BASE;
  return element(
    "figure",
    { class: "window-picture" },
    drawing(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": describe(alert, counted.length) },
      drawing("rect", {
        class: "window-back",
        x: x(start),
        y: TOP - 12,
        width: x(end) - x(start),
        height: BASE - TOP + 12,
        rx: 4,
      }),
      added ? climb(alert, counted, added, x, scale) : null,
      drawing("line", { class: "window-axis", x1: x(start), x2: x(end), y1: BASE, y2: BASE }),
      marks,
      hasLimit
        ? [
          drawing("line", { class: "window-limit", x1: x(start), x2: x(end), y1: limitAt, y2: limitAt }),
          drawing(
            "text",
            { class: "window-label", x: x(start) + 6, y: limitAt - 5 },
            `limit ${decimal(alert.limit)}`,
          ),
        ]
        : null,
    ),
    element(
      "figcaption",
      { class: "chart-foot muted small" },
      element("span", { title: fullTime(start) }, timeOfDay(start)),
      element("span", {}, extent(alert, start, definition)),
      element("span", { title: fullTime(end) }, timeOfDay(end)),
    ),
  );
}

/** Where all that counted lies close together at the end of a long window, only that part is drawn. */
function firstShown({ windowStart, windowEnd, contributors }) {
  const oldest = contributors.transactions.at(-1)?.eventTime ?? windowStart;
  const taken = windowEnd - oldest;
  return taken < (windowEnd - windowStart) * 0.4
    ? Math.max(windowStart, oldest - Math.max(taken * 0.15, 500))
    : windowStart;
}

function extent(alert, start, definition) {
  const whole = span(windowSeconds(alert, definition));
  if (start === alert.windowStart) {
    return `${whole} back from the ${ONE}${alert.precision ? ", to the beginning of a bucket" : ""}`;
  }
  const before = alert.contributors.truncated ? "what is older is not drawn" : "nothing counted before";
  return `the last ${milliseconds(alert.windowEnd - start)} of a window of ${whole}; ${before}`;
}

/**
 * A bucketed one reaches back a little farther than it is long; without its definition that is all there is
 * to say.
 */
function windowSeconds({ windowStart, windowEnd, precision }, definition) {
  return (precision && definition?.windowSeconds) || Math.round((windowEnd - windowStart) / 1000);
}

// Floats from here on: they place lines on a screen and are never shown as amounts.
function heights(alert, counted, climbing) {
  const values = climbing ? [Number(alert.value)] : counted.map((transaction) => Number(transaction.value));
  const highest = Math.max(Math.abs(Number(alert.limit)), ...values.map(Math.abs), 1e-9) * 1.06;
  return (value) => BASE - (BASE - TOP) * Math.max(0, Math.min(1.1, value / highest));
}

function climb(alert, counted, added, x, scale) {
  const start = firstShown(alert);
  // Where not all are listed, those that are not come first: they are the oldest.
  let sum = Number(alert.value) - added.reduce((total, transaction) => total + transaction, 0);
  let path = `M${x(start).toFixed(1)} ${scale(sum).toFixed(1)}`;
  counted.forEach((transaction, index) => {
    path += `H${x(transaction.eventTime).toFixed(1)}`;
    sum += added[index];
    path += `V${scale(sum).toFixed(1)}`;
  });
  path += `H${x(alert.windowEnd).toFixed(1)}`;
  const ground = `V${BASE}H${x(start).toFixed(1)}Z`;
  return [
    drawing("path", { class: "window-sum-area", d: path + ground }),
    drawing("path", { class: "window-sum", d: path }),
  ];
}

function mark(transaction, x, top, alert, kind) {
  const trips = transaction.transactionId === identityOf(alert.transaction);
  const title = `${transaction.transactionId}, ${fullTime(transaction.eventTime)}${
    transaction.value === null ? "" : `: ${shownValue(transaction.value, kind)}`
  }`;
  return drawing(
    "g",
    { class: trips ? "window-mark trips" : "window-mark" },
    drawing("title", {}, title),
    drawing("line", { x1: x, x2: x, y1: top ?? BASE - 9, y2: BASE + 5 }),
    drawing("circle", { cx: x, cy: top ?? BASE, r: trips ? 6 : 3.5 }),
  );
}

function describe(alert, listed) {
  return `Window from ${fullTime(alert.windowStart)} to ${
    fullTime(alert.windowEnd)
  }: ${alert.contributors.count} ${MANY} counted, ` +
    `${listed} drawn; ${cameTo(alert).join("")}`;
}
