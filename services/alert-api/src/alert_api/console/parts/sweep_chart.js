// One draft with other limits or windows: how many alerts each would have given, and how many of them were right.

import { button, drawing, element, tableHead } from "../core/dom.js";
import { decimal, figure, span } from "../core/format.js";
import { share } from "../words/backtest_words.js";

const WIDTH = 720;
const HEIGHT = 150;
const EDGE = 8;
const SWEPT = [
  { member: "limit", kind: "string", name: "limit", title: "Limit", words: decimal },
  { member: "windowSeconds", kind: "number", name: "window", title: "Window", words: span },
];

/**
 * A curve with its figures for each of both that the rules differ in; none where they differ in anything else.
 * `take(member, value)` puts what is clicked into a draft, where there is one.
 */
export function sweepCharts(backtest, take = null) {
  const swept = SWEPT.map((kind) => ({ ...kind, points: pointsOf(backtest, kind.member, kind.kind) }))
    .filter(({ points }) => points.length > 1);
  const drawn = new Set(swept.flatMap(({ points }) => points.map(({ triedId }) => triedId)));
  return drawn.size < backtest.rules.length ? [] : swept.map((kind) => chart(kind, take));
}

/** The first rule, and those that differ from it in that member alone, by it. */
function pointsOf({ rules, result }, member, kind) {
  const others = ({ definition: { [member]: _, ...rest } }) => JSON.stringify(rest);
  const alike = others(rules[0]);
  return rules
    .filter((rule) => others(rule) === alike && typeof rule.definition[member] === kind)
    .map(({ triedId, definition }) => ({
      value: definition[member],
      ...result.rules.find((rule) => rule.triedId === triedId),
    }))
    .sort((a, b) => Number(a.value) - Number(b.value));
}

function chart(kind, take) {
  return element(
    "section",
    { class: "backtest-rule", "aria-label": `By ${kind.name}` },
    element("h2", {}, `By ${kind.name}`),
    element("figure", { class: "backtest-sweep" }, curve(kind, take), table(kind, take)),
  );
}

function curve({ member, name, words, points }, take) {
  const most = Math.max(1, ...points.map(({ alerts }) => alerts));
  const step = (WIDTH - 2 * EDGE) / Math.max(1, points.length - 1);
  const places = points.map(({ alerts, value }, index) => ({
    x: (EDGE + index * step).toFixed(1),
    y: (HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * alerts / most).toFixed(1),
    value,
  }));
  const path = places.map(({ x, y }, index) => `${index ? "L" : "M"}${x} ${y}`).join("");
  return drawing(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": points.map(({ value, alerts }) => `${name} ${words(value)}: ${figure(alerts)}`).join(
        ", ",
      ),
    },
    drawing("path", { class: "sweep-line", d: path }),
    // With the keyboard it is taken in the table. A circle would be drawn out with the picture; the end of a line is
    // round at any width.
    places.map(({ x, y, value }) =>
      drawing("path", {
        class: take ? "sweep-point is-taken" : "sweep-point",
        d: `M${x} ${y}l0.01 0.01`,
        on: take ? { click: () => take(member, value) } : {},
      })
    ),
  );
}

function table({ member, name, title, words, points }, take) {
  const cell = (text) => element("td", {}, text);
  const offered = (value) =>
    take
      ? button(words(value), () => take(member, value), {
        "aria-label": `Take ${name} ${words(value)} into the draft`,
      })
      : words(value);
  return element(
    "div",
    { class: "sweep-table" },
    element(
      "table",
      {},
      tableHead([title, "Alerts", "Precision", "Fraud found"]),
      element(
        "tbody",
        {},
        points.map(({ value, alerts, labelled }) =>
          element(
            "tr",
            {},
            element("th", { scope: "row" }, offered(value)),
            [figure(alerts), share(labelled.precision), share(labelled.recall)].map(cell),
          )
        ),
      ),
    ),
  );
}
