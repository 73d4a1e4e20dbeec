// What is said of one alert: why it tripped, and the fields of what tripped it.

import { judgedAgain } from "../parts/alert_row.js";
import { session } from "../core/client.js";
import { element } from "../core/dom.js";
import { fieldOf, identityOf, MANY, ONE, timeOf } from "../core/event_type.js";
import {
  counted,
  decimal,
  fieldName,
  fieldNames,
  fullTime,
  milliseconds,
  timeOfDay,
} from "../core/format.js";
import { ruleLink } from "../parts/rule_link.js";
import { cameTo } from "../words/verdict.js";
import { bounds, inBuckets } from "../words/precision.js";
import { isVoided } from "../words/void_marks.js";

/** Why it tripped, as pairs of a name and what is said. */
export function why(alert, definition) {
  const different = definition?.aggregatorFunctionType === "COUNT_DISTINCT"
    ? ` different ${fieldNames(definition.aggregateFieldName)}`
    : "";
  return [
    [
      "Rule",
      element("a", ruleLink(alert), `rule ${alert.ruleId}, version ${alert.ruleVersion}`),
    ],
    alert.conditions ? ["Value", `${cameTo(alert).join("")} held`] : ["Value", cameTo(alert).join(different)],
    ["Window", `${timeOfDay(alert.windowStart)} to ${timeOfDay(alert.windowEnd)}, both included`],
    alert.precision
      ? ["Precision", `bucketed, ${inBuckets(alert.precision.bucketSeconds)}: ${bounds(alert.precision)}`]
      : null,
    alert.contributors ? ["Counted", counted(alert.contributors.count, ONE, MANY)] : null,
    ["Detected", detection(alert)],
    alert.late && !judgedAgain(alert)
      ? [
        "Late",
        `${milliseconds(alert.late.newestEventTime - alert.eventTime)} behind the newest of its group`,
      ]
      : null,
    alert.partial && !judgedAgain(alert)
      ? ["Caught up", "found when the rule was put in force for the past"]
      : null,
    alert.warm === false ? ["Window", `may lack ${MANY} from before the engine knew this rule`] : null,
  ];
}

/** The fields of what tripped it, and the way to void it. */
export function transaction(alert) {
  const asContributor = {
    transactionId: identityOf(alert.transaction),
    eventTime: timeOf(alert.transaction),
  };
  const address = `/controls?${new URLSearchParams({
    void: asContributor.transactionId,
    at: asContributor.eventTime,
  })}`;
  const offered = session.may("controls:write") && !isVoided(alert, asContributor);
  return [
    pairs(
      Object.entries(alert.transaction).map((
        [name, value],
      ) => [fieldName(name), value === null ? "\u2013" : shown(fieldOf(name)?.kind, value)]),
    ),
    offered
      ? element(
        "p",
        { class: "small" },
        element("a", { href: address, "data-go": true }, `Void this ${ONE}\u2026`),
      )
      : null,
  ];
}

function shown(kind, value) {
  return kind === "timestamp" ? fullTime(value) : kind === "decimal" ? decimal(value) : String(value);
}

function detection(alert) {
  const took = alert.ingestedAt === null
    ? ""
    : `, ${milliseconds(Math.max(0, alert.detectedAt - alert.ingestedAt))} after the ${ONE} came in`;
  return fullTime(alert.detectedAt) + took;
}

/** A list of names and what each is; what is null is left out. */
export function pairs(entries) {
  return element(
    "dl",
    { class: "pairs" },
    entries.filter(Boolean).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]),
  );
}
