// The pictures of a backtest: alerts over its span, and what it has in common with the live rule.

import { drawing, element } from "../core/dom.js";
import { figure, fullTime } from "../core/format.js";

const HOUR_MS = 3_600_000;
const WIDTH = 720;
const HEIGHT = 96;
const MOST_BARS = 120;
const STEPS = [1, 3, 6, 12, 24, 72, 168, 720];

/** Alerts by the hour, or by so many hours that the bars can be told apart. */
export function alertsChart({ from, to }, rule) {
  const first = Math.floor(from / HOUR_MS) * HOUR_MS;
  const hours = Math.max(1, Math.ceil((to - first) / HOUR_MS));
  const step = STEPS.find((size) => hours / size <= MOST_BARS) ?? STEPS.at(-1);
  const bars = new Array(Math.ceil(hours / step)).fill(0);
  for (const { hour, alerts } of rule.hours) {
    const index = Math.floor((hour - first) / HOUR_MS / step);
    bars[Math.min(bars.length - 1, Math.max(0, index))] += alerts;
  }
  const highest = Math.max(1, ...bars);
  const width = WIDTH / bars.length;
  const unit = step === 1 ? "an hour" : step === 24 ? "a day" : `in ${step} hours`;
  return element(
    "figure",
    { class: "backtest-hours" },
    element("figcaption", {}, `Alerts ${unit}`),
    drawing(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": `Alerts ${unit}: ${figure(highest)} at the most`,
      },
      bars.map((alerts, index) => bar(alerts, index, { first, step, width, highest })),
    ),
    element(
      "div",
      { class: "chart-foot muted small" },
      element("span", {}, fullTime(from)),
      element("span", {}, `up to ${figure(highest)}`),
      element("span", {}, fullTime(to)),
    ),
  );
}

function bar(alerts, index, { first, step, width, highest }) {
  const tall = (HEIGHT - 2) * alerts / highest;
  return drawing(
    "g",
    {},
    drawing("title", {}, `${fullTime(first + index * step * HOUR_MS)}: ${figure(alerts)}`),
    drawing("rect", { class: "bar-back", x: index * width, width, y: 0, height: HEIGHT }),
    drawing("rect", {
      class: "bar-tried",
      x: (index * width + width * 0.12).toFixed(2),
      width: (width * 0.76).toFixed(2),
      y: (HEIGHT - tall).toFixed(2),
      height: tall.toFixed(2),
    }),
  );
}

/** One bar of three parts: of the live rule only, of both, of the tried one only. */
export function overlapChart({ ruleId, both, onlyTried, onlyLive }) {
  const parts = [
    ["live", onlyLive, "only of the live rule"],
    ["both", both, "of both"],
    ["tried", onlyTried, "only of this one"],
  ];
  const all = both + onlyTried + onlyLive;
  let reached = 0;
  const rects = parts.filter(([, count]) => count).map(([name, count, words]) => {
    const width = WIDTH * count / all;
    const rect = drawing(
      "rect",
      { class: `overlap-${name}`, x: reached.toFixed(2), width: width.toFixed(2), y: 0, height: 24 },
      drawing("title", {}, `${figure(count)} ${words}`),
    );
    reached += width;
    return rect;
  });
  return element(
    "figure",
    { class: "backtest-overlap" },
    element("figcaption", {}, `Beside what rule ${ruleId} gave live, by group and transaction`),
    all
      ? drawing("svg", {
        viewBox: `0 0 ${WIDTH} 24`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": parts.map(([, count, words]) => `${figure(count)} ${words}`).join(", "),
      }, rects)
      : null,
    element(
      "ul",
      { class: "overlap-legend" },
      parts.map(([name, count, words]) =>
        element(
          "li",
          {},
          element("span", { class: `overlap-key overlap-${name}`, "aria-hidden": "true" }),
          element("b", {}, figure(count)),
          ` ${words}`,
        )
      ),
    ),
  );
}
