// One draft with several limits: how many alerts each would have given, and how many of them were right.

import { drawing, element } from "../core/dom.js";
import { decimal, figure } from "../core/format.js";
import { share } from "../words/backtest_words.js";

const WIDTH = 720;
const HEIGHT = 150;
const EDGE = 8;

/** The curve, with its figures; null where the rules differ in more than their limits. */
export function sweepChart({ rules, result }) {
  const kinds = new Set(rules.map(({ definition: { limit: _, ...rest } }) => JSON.stringify(rest)));
  const points = rules
    .filter(({ definition }) => typeof definition.limit === "string")
    .map(({ triedId, definition }) => ({
      limit: definition.limit,
      ...result.rules.find((rule) => rule.triedId === triedId),
    }))
    .sort((a, b) => Number(a.limit) - Number(b.limit));
  if (rules.length < 2 || kinds.size > 1 || points.length < rules.length) return null;
  return element(
    "section",
    { class: "backtest-rule" },
    element("h2", {}, "By limit"),
    element("figure", { class: "backtest-sweep" }, curve(points), table(points)),
  );
}

function curve(points) {
  const most = Math.max(1, ...points.map(({ alerts }) => alerts));
  const step = (WIDTH - 2 * EDGE) / Math.max(1, points.length - 1);
  const places = points.map(({ alerts }, index) => [
    EDGE + index * step,
    HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * alerts / most,
  ]);
  const path = places.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  return drawing(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": points.map(({ limit, alerts }) => `limit ${decimal(limit)}: ${figure(alerts)}`).join(
        ", ",
      ),
    },
    drawing("path", { class: "sweep-line", d: path }),
    places.map(([x, y]) =>
      drawing("circle", { class: "sweep-point", cx: x.toFixed(1), cy: y.toFixed(1), r: 4 })
    ),
  );
}

function table(points) {
  const cell = (text) => element("td", {}, text);
  return element(
    "div",
    { class: "sweep-table" },
    element(
      "table",
      {},
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          ["Limit", "Alerts", "Precision", "Fraud found"].map((name) =>
            element("th", { scope: "col" }, name)
          ),
        ),
      ),
      element(
        "tbody",
        {},
        points.map(({ limit, alerts, labelled }) =>
          element(
            "tr",
            {},
            element("th", { scope: "row" }, decimal(limit)),
            [figure(alerts), share(labelled.precision), share(labelled.recall)].map(cell),
          )
        ),
      ),
    ),
  );
}
