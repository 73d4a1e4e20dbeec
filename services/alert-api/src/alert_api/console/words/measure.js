// What an alert's value is made of: by the definition that judged, or by what the alert shows where nobody
// tells that.

import { registry } from "../core/client.js";
import { decimal } from "../core/format.js";
import { feeds } from "../core/pipeline.js";

const OF_AMOUNTS = new Set(["SUM", "AVG", "MIN", "MAX", "STDDEV"]);
const NUMBER = /^-?\d+(\.\d+)?$/;

/** The definition that judged, if it is among the rules that the console has read; else null. */
export function knownDefinition({ ruleId, ruleVersion }) {
  return feeds.rules.data?.find((rule) => rule.ruleId === ruleId && rule.definitionVersion === ruleVersion)
    ?.definition ?? null;
}

/** The same from the registry, which keeps old versions and deleted rules; null where it does not answer. */
export async function askedDefinition({ ruleId, ruleVersion }) {
  try {
    return (await registry(`/rules/${ruleId}/versions/${ruleVersion}`)).body.definition;
  } catch {
    /* the page does without */
    return null;
  }
}

/**
 * The aggregate function; without a definition null where values that look like numbers may be amounts or
 * ids.
 */
export function functionOf({ contributors, precision, value }, definition) {
  if (definition) return definition.aggregatorFunctionType;
  const values = contributors.transactions.map((contributor) => contributor.value);
  const isCount = value === String(contributors.count);
  // Nothing else alerts for a window in which nothing counts; of a bucketed one all may be kept in buckets.
  if (values.length === 0) return precision ? null : "COUNT_DISTINCT";
  if (values.every((one) => one === null)) return isCount ? "COUNT" : null;
  return values.every((one) => NUMBER.test(one)) ? null : "COUNT_DISTINCT";
}

/** What one transaction brought in, as text. Only amounts are written as numbers: an id of digits is none. */
export function shownValue(value, kind) {
  if (value === null) return "\u2013";
  return OF_AMOUNTS.has(kind) ? decimal(value) : value;
}

/**
 * What each transaction, the oldest first, adds to the value; null where values do not add up along the
 * window.
 */
export function steps(alert, kind) {
  const values = [...alert.contributors.transactions].reverse().map((contributor) => contributor.value);
  if (kind === "COUNT") return values.map(() => 1);
  if (kind === "COUNT_DISTINCT") {
    return values.map((value, index) => (values.indexOf(value) === index ? 1 : 0));
  }
  // Floats: they place lines on a screen and are never shown as amounts.
  const amounts = values.map(Number);
  return kind === "SUM" || (kind === null && addUp(amounts, alert)) ? amounts : null;
}

function addUp(amounts, { contributors, value }) {
  const sum = amounts.reduce((total, amount) => total + amount, 0);
  return contributors.count > 1 && Math.abs(sum - Number(value)) < 0.005 * Math.max(1, Math.abs(sum));
}
