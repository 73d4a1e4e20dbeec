// What an alert or a trace came to, in a few words: a value beside its limit, or of a chained rule how many
// conditions hold.

import { decimal, operator } from "../core/format.js";

/** `[what stands out, the rest]` */
export function cameTo({ conditions, value, operator: sign, limitOperatorType, limit }) {
  if (conditions) {
    return [
      `${held(conditions)} of ${conditions.length}`,
      conditions.length === 1 ? " condition" : " conditions",
    ];
  }
  return [
    value === null ? "\u2013" : decimal(value),
    ` ${operator(sign ?? limitOperatorType)} ${limit === null ? "\u2013" : decimal(limit)}`,
  ];
}

/** A condition is counted for itself: under a `not` the rule wants it not to hold. */
function held(conditions) {
  return conditions.filter((condition) => condition.holds).length;
}

export function holdsTag(condition) {
  return condition.holds ? "holds" : "does not hold";
}

/** The sum of one weighting, and what it has to be at least. */
export function sumCells({ sum, atLeast }) {
  return [`\u03a3 ${number(sum)}`, `\u2265 ${number(atLeast)}`];
}

/** Of which conditions the weights are that were added up. */
export function weighedTitle({ holds, weights }) {
  const held = weights.filter((one) => one.holds).map(({ weight, conditions }) =>
    `${number(weight)} for ${conditions.length === 1 ? "condition" : "conditions"} ${conditions.join(", ")}`
  );
  return `The weights ${holds ? "add up" : "do not add up"}: ${
    held.join("; ") || "none of what they are for holds"
  }`;
}

function number(text) {
  return text === null ? "\u2013" : decimal(text);
}

/** Where the condition is that looks back farthest; of several the first. */
export function widestIndex(conditions) {
  return conditions.reduce(
    (
      widest,
      condition,
      index,
    ) => (condition.windowSeconds > conditions[widest].windowSeconds ? index : widest),
    0,
  );
}

/**
 * What the picture of the window shows of an alert: itself, or of a chained rule the condition that looks
 * back farthest.
 */
export function widest(alert) {
  const { conditions, ...whole } = alert;
  return conditions ? { ...whole, ...conditions[widestIndex(conditions)] } : alert;
}
