// Alerts by hour as bars: acknowledged below, open on top.

import { drawing, element } from "../core/dom.js";
import { figure } from "../core/format.js";
import { roundAbove } from "../core/chart.js";

const HOUR = 3_600_000;
const WIDTH = 720;
const HEIGHT = 84;
const CLOCK = { hour: "2-digit", minute: "2-digit" };
const hourOf = new Intl.DateTimeFormat("en-GB", CLOCK);
const dayOf = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", ...CLOCK });

/** The bars of an answer of /v1/alerts/summary. */
export function hoursChart(summary) {
  const first = Math.floor(summary.from / HOUR) * HOUR;
  const hours = Math.min(744, Math.floor((summary.to - first) / HOUR) + 1);
  const byHour = new Map(summary.byHour.map((hour) => [hour.hour, hour]));
  const highest = roundAbove(Math.max(0, ...summary.byHour.map((hour) => hour.open + hour.acknowledged)));
  const width = WIDTH / hours;
  const bars = Array.from({ length: hours }, (_, index) => {
    const hour = first + index * HOUR;
    const { open, acknowledged } = byHour.get(hour) ?? { open: 0, acknowledged: 0 };
    const tall = (count) => (HEIGHT - 2) * count / highest;
    const bar = { x: (index * width + width * 0.12).toFixed(2), width: (width * 0.76).toFixed(2) };
    return drawing(
      "g",
      {},
      drawing("title", {}, `${dayOf.format(hour)}: ${open} open, ${acknowledged} acknowledged`),
      drawing("rect", { class: "bar-back", x: index * width, width, y: 0, height: HEIGHT }),
      drawing("rect", {
        class: "bar-done",
        ...bar,
        y: HEIGHT - tall(acknowledged),
        height: tall(acknowledged),
      }),
      drawing("rect", {
        class: "bar-open",
        ...bar,
        y: HEIGHT - tall(acknowledged + open),
        height: tall(open),
      }),
    );
  });
  const { open, acknowledged } = summary.byState;
  return element(
    "figure",
    { class: "hours" },
    element(
      "figcaption",
      {},
      element("b", {}, figure(open)),
      " open and ",
      element("b", {}, figure(acknowledged)),
      " acknowledged ",
      summary.countedFrom > summary.from
        ? element(
          "span",
          { title: "So many that they are not counted further back" },
          `since ${hourOf.format(summary.countedFrom)}, and more before`,
        )
        : "in the last 24 hours",
    ),
    drawing("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `Alerts by hour: ${open} open, ${acknowledged} acknowledged`,
    }, bars),
    element(
      "div",
      { class: "chart-foot muted small" },
      element("span", {}, dayOf.format(first)),
      element("span", {}, `scale up to ${figure(highest)} an hour`),
      element("span", {}, dayOf.format(first + hours * HOUR)),
    ),
  );
}
