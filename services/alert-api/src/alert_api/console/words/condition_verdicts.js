// The conditions of a chained alert, each with its value, limit, window, whether it held, and what counted
// for it.

import { contributors } from "./contributors.js";
import { inWords, measureInWords } from "./definition.js";
import { element } from "../core/dom.js";
import { MANY, ONE } from "../core/event_type.js";
import { counted, decimal, fieldName, fullTime, timeOfDay } from "../core/format.js";
import { cameTo, holdsTag } from "./verdict.js";
import { bounds, inBuckets } from "./precision.js";

/** How they are chained is the definition's to say, which may not be known. */
export function judgedConditions(alert, definition) {
  return element(
    "div",
    { class: "judged" },
    definition?.conditions ? element("p", { class: "muted small" }, inWords(definition)) : null,
    (alert.weighted ?? []).map(weighed),
    element(
      "ol",
      { class: "judged" },
      alert.conditions.map((condition, index) => judged(alert, condition, index + 1)),
    ),
  );
}

/** What the weights of one weighting came to, and of which conditions each is. */
function weighed({ sum, atLeast, holds, weights }) {
  const parts = weights.map(({ weight, holds: held, conditions }) =>
    element(
      "span",
      { class: held ? "tag alarm" : "tag" },
      element("b", {}, number(weight)),
      ` ${conditions.length === 1 ? "condition" : "conditions"} ${conditions.join(", ")} ${
        holdsTag({ holds: held })
      }`,
    )
  );
  return element(
    "p",
    { class: "alert-facts weighed", dataset: { holds } },
    element("span", { class: "measure" }, element("b", {}, number(sum)), ` \u2265 ${number(atLeast)}`),
    element("span", {}, "weights of what holds"),
    parts,
  );
}

function number(text) {
  return text === null ? "\u2013" : decimal(text);
}

function judged(alert, condition, number) {
  const [value, rest] = cameTo(condition);
  return element(
    "li",
    { class: "judged-condition", dataset: { holds: condition.holds } },
    element("h3", {}, `${number}. ${measureInWords(condition)}`),
    element(
      "p",
      { class: "alert-facts" },
      element("span", { class: "measure" }, element("b", {}, value), rest),
      element("span", { class: condition.holds ? "tag alarm" : "tag" }, holdsTag(condition)),
      Object.entries(condition.group).map(([name, text]) =>
        element("span", { class: "tag" }, `${fieldName(name)} `, element("b", {}, text))
      ),
      element("span", {
        title: `${fullTime(condition.windowStart)} to ${fullTime(condition.windowEnd)}, both included`,
      }, `${timeOfDay(condition.windowStart)} to ${timeOfDay(condition.windowEnd)}`),
      element("span", {}, `${counted(condition.contributors.count, ONE, MANY)} counted`),
      condition.precision
        ? element(
          "span",
          {},
          `bucketed, ${inBuckets(condition.precision.bucketSeconds)}: ${bounds(condition.precision)}`,
        )
        : null,
    ),
    contributors({ ...alert, ...condition }, condition),
    condition.limitMeasure ? behind(alert, condition.limitMeasure) : null,
  );
}

/** What a relative limit was made of, and which counted for it. */
function behind(alert, measure) {
  const value = measure.value === null ? "without a value" : `= ${decimal(measure.value)}`;
  const plus = measure.plus === "0" ? "" : `, plus ${number(measure.plus)}`;
  const deviations = measure.plusDeviations === undefined
    ? ""
    : `, plus ${number(measure.plusDeviations)} deviations of ${number(measure.deviation)}`;
  return element(
    "div",
    { class: "judged-condition limit-measure" },
    element(
      "h3",
      {},
      `The limit: ${number(measure.times)} \u00d7 ${measureInWords(measure)}${plus}${deviations}`,
    ),
    element(
      "p",
      { class: "alert-facts" },
      element("span", { class: "measure" }, value),
      element(
        "span",
        { title: `${fullTime(measure.windowStart)} to ${fullTime(measure.windowEnd)}` },
        `${fullTime(measure.windowStart)} to ${fullTime(measure.windowEnd)}`,
      ),
      element("span", {}, `${counted(measure.contributors.count, ONE, MANY)} counted`),
    ),
    contributors({ ...alert, ...measure, operator: null, limit: null }, measure),
  );
}
