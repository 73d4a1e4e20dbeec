// A rule's definition in words, and what differs between two of them.

import { MANY, ONE } from "../core/event_type.js";
import { decimal, fieldName, fieldNames, operator, span } from "../core/format.js";
import { bucketSeconds, precisionInWords } from "./precision.js";

export const FUNCTIONS = [
  ["SUM", "Sum"],
  ["AVG", "Average"],
  ["MIN", "Smallest"],
  ["MAX", "Largest"],
  ["COUNT", `Number of ${MANY}`],
  ["COUNT_DISTINCT", "Number of different \u2026"],
  ["SECONDS_SINCE_PREVIOUS", `Seconds since the ${ONE} before`],
  ["SECONDS_SINCE_FIRST", `Seconds since the first ${ONE}`],
  ["CHANGED", "Change (1 or 0) of"],
  ["STDDEV", "Standard deviation"],
  ["SPEED_KMH", "Speed in km/h"],
];
/** What looks at no field, and at one that rules may group by; what neither counts afresh nor judges again. */
const SINCE = ["SECONDS_SINCE_PREVIOUS", "SECONDS_SINCE_FIRST"];
export const OF_NO_FIELD = new Set(["COUNT", ...SINCE]);
export const OF_KEYS = new Set(["COUNT_DISTINCT", "CHANGED", "SPEED_KMH"]);
export const JUDGED_ONCE = new Set([...SINCE, "CHANGED", "STDDEV", "SPEED_KMH"]);
export const OPERATORS = [">", ">=", "<", "<=", "=", "!="];
export const LATE_EVENTS = [["evaluate", "are judged like any other"], [
  "reevaluate",
  "are judged, and what they came before is judged again",
], ["store", "only count for later ones"]];
const NAMES = Object.fromEntries(FUNCTIONS);
const LATE = Object.fromEntries(LATE_EVENTS);

/** A rule definition as one sentence. */
export function inWords(definition) {
  const only = definition.filter ? `, only where ${filterInWords(definition.filter)}` : "";
  const when = [
    bucketSeconds(definition.precision) === null ? null : `windows ${precisionInWords(definition.precision)}`,
    definition.firing === "crossing" ? "fires when the limit is crossed" : null,
    definition.resetOnAlert ? "starts afresh after an alert" : null,
    definition.cooldownSeconds ? `silent for ${span(definition.cooldownSeconds)} after an alert` : null,
    definition.lateEvents === "store" ? `late ${MANY} count, but do not fire` : null,
    definition.lateEvents === "reevaluate" ? `late ${MANY} ${LATE.reevaluate}` : null,
  ].filter(Boolean);
  const what = definition.conditions
    ? sentence(chainInWords(definition.conditions))
    : `${measureInWords(definition)} ${operator(definition.limitOperatorType)} ${amount(definition.limit)}`;
  return `${what}${only}${when.length ? ` (${when.join("; ")})` : ""}`;
}

/** What a rule or a condition holds against its limit: the aggregate, of whom, how far back. */
export function measureInWords(measured) {
  return `${aggregateInWords(measured)} ${groupInWords(measured.groupingKeyNames)} ${
    windowInWords(measured)
  }`;
}

/** How far back, from when on, and from how many on there is a value; `beside` is a window that may follow. */
function windowInWords(measured, beside = null) {
  const { windowSeconds, offsetSeconds, minimumCount } = measured;
  const long = span(windowSeconds);
  const within = !offsetSeconds
    ? `within ${long}`
    : offsetSeconds === beside
    ? `within the ${long} before`
    : `within ${long} before the last ${span(offsetSeconds)}`;
  const current = measured.includeCurrent === false ? `, the ${ONE} itself left out` : "";
  return `${within}${current}${minimumCount ? `, if there are at least ${minimumCount}` : ""}`;
}

/** A limit in words: a number, a parameter, or so many times another measure and a number more. */
export function limitInWords(limit, condition = {}) {
  if (!limit?.measure) return amount(limit);
  const { measure, times = "1", plus = "0", plusDeviations = null } = limit;
  const factor = times === "1" ? "" : `${amount(times)} \u00d7 `;
  const beyond = plusDeviations === null ? "" : `, plus ${amount(plusDeviations)} of its standard deviations`;
  const more = `${plus === "0" ? "" : `, plus ${amount(plus)}`}${beyond}`;
  const keys = measure.groupingKeyNames ?? condition.groupingKeyNames;
  const window = windowInWords(measure, condition.windowSeconds);
  const its = isSame(keys, condition.groupingKeyNames) && isSame(measure.filter, condition.filter)
    ? itsInWords(measure, condition)
    : null;
  if (its) return `${factor}${its} ${window}${more}`;
  const only = measure.filter ? `, only where ${filterInWords(measure.filter)}` : "";
  const words = `${aggregateInWords(measure)} ${groupInWords(keys)} ${window}`;
  return `${factor}(${words[0].toLowerCase()}${words.slice(1)}${only})${more}`;
}

/** What is measured of the same as the condition measures; null where that has to be said in full. */
function itsInWords({ aggregatorFunctionType: kind, aggregateFieldName: field }, condition) {
  if (!isSame(field, condition.aggregateFieldName)) return null;
  if (kind === condition.aggregatorFunctionType) return "the same";
  return field && !OF_KEYS.has(condition.aggregatorFunctionType) && !OF_KEYS.has(kind)
    ? `its ${NAMES[kind].toLowerCase()}`
    : null;
}

function isSame(one, other) {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}

function keyInWords(key) {
  return key.field === undefined ? fieldName(key) : `${fieldName(key.field)} in steps of ${amount(key.step)}`;
}

function groupInWords(keys = []) {
  return keys.length === 0 ? `over all ${MANY}` : `per ${keys.map(keyInWords).join(" and ")}`;
}

/** The conditions of a chained rule in words: all of, any of, not, weights, over what each measures. */
export function chainInWords(tree, inside = false) {
  for (const key of ["all", "any"]) {
    if (Array.isArray(tree?.[key])) {
      const text = `${key} of: ${tree[key].map((node) => chainInWords(node, true)).join("; ")}`;
      return inside ? `(${text})` : text;
    }
  }
  if (Array.isArray(tree?.weighted)) {
    const parts = tree.weighted.map(({ weight, of }) => `${amount(weight)} for ${chainInWords(of, true)}`);
    const text = `weights that add up to at least ${amount(tree.atLeast)}: ${parts.join("; ")}`;
    return inside ? `(${text})` : text;
  }
  if (tree?.not !== undefined) return `not ${chainInWords(tree.not, true)}`;
  if (tree?.windowSeconds === undefined) return JSON.stringify(tree);
  const measure = measureInWords(tree);
  return `${measure[0].toLowerCase()}${measure.slice(1)} ${operator(tree.limitOperatorType)} ${
    limitInWords(tree.limit, tree)
  }` +
    `${tree.filter ? `, only where ${filterInWords(tree.filter)}` : ""}`;
}

function sentence(text) {
  return text[0].toUpperCase() + text.slice(1);
}

function aggregateInWords({ aggregatorFunctionType: kind, aggregateFieldName: field }) {
  if (OF_NO_FIELD.has(kind)) return NAMES[kind];
  if (kind === "COUNT_DISTINCT") return `Number of different ${fieldNames(field ?? "")}`;
  if (kind === "CHANGED") return `Change (1 or 0) of ${fieldName(field ?? "")}`;
  if (kind === "SPEED_KMH") return `Speed in km/h from the last ${fieldName(field ?? "")}`;
  return `${NAMES[kind] ?? kind} of ${fieldName(field ?? "")}`;
}

/** A filter tree in words: all, any, not over comparisons. */
export function filterInWords(tree, inside = false) {
  for (const [key, word] of [["all", " and "], ["any", " or "]]) {
    if (Array.isArray(tree?.[key])) {
      const text = tree[key].map((node) => filterInWords(node, true)).join(word);
      return inside && tree[key].length > 1 ? `(${text})` : text;
    }
  }
  if (tree?.not !== undefined) return `not ${filterInWords(tree.not, true)}`;
  return testInWords(tree) ?? JSON.stringify(tree);
}

/** The tests of one field that take a text or a number: what each says. */
export const FIELD_TESTS = {
  startsWith: "starts with",
  endsWith: "ends with",
  contains: "contains",
  multipleOf: "is a multiple of",
};

function testInWords(tree) {
  if (tree?.side !== undefined) return `its side is ${tree.side}`;
  if (tree?.localTime !== undefined) return localTimeInWords(tree.localTime);
  if (Array.isArray(tree?.in)) return `${fieldName(tree.field)} is one of ${tree.in.join(", ")}`;
  if (tree?.in?.list !== undefined) return `${fieldName(tree.field)} is in the list ${tree.in.list}`;
  if (Array.isArray(tree?.inNetwork)) {
    return `${fieldName(tree.field)} is in the network ${tree.inNetwork.join(" or ")}`;
  }
  if (tree?.isNull === true) return `${fieldName(tree.field)} is missing`;
  const said = Object.keys(FIELD_TESTS).find((word) => tree?.[word] !== undefined);
  if (said) return `${fieldName(tree.field)} ${FIELD_TESTS[said]} ${tree[said]}`;
  if (tree?.operator === undefined) return null;
  const other = tree.otherField !== undefined
    ? fieldName(tree.otherField)
    : tree.value?.parameter
    ? amount(tree.value)
    : tree.value;
  return `${fieldName(tree.field)} ${operator(tree.operator)} ${other}`;
}

function localTimeInWords({ zone, from, to, days }) {
  const on = days ? `, ${days.map((day) => day[0] + day.slice(1).toLowerCase()).join(", ")}` : "";
  return `it is between ${from} and ${to} in ${zone}${on}`;
}

const TITLES = {
  name: "Name",
  groupingKeyNames: "Grouped by",
  aggregatorFunctionType: "Aggregate",
  aggregateFieldName: "Of field",
  limitOperatorType: "Comparison",
  limit: "Limit",
  windowSeconds: "Window",
  conditions: "Conditions",
  filter: "Filter",
  firing: "Fires",
  resetOnAlert: "Reset on alert",
  cooldownSeconds: "Silent after an alert",
  lateEvents: `Late ${MANY}`,
  precision: "Precision",
  state: "State",
  effectiveFrom: "In force from",
  effectiveUntil: "Judges until",
};

/** What changed from one version to the next: `[{title, before, after}]`. */
export function differences(before, after, shownTime) {
  const flat = (version) => ({
    name: version.name,
    state: version.state,
    ...version.definition,
    effectiveFrom: version.effectiveFrom,
    effectiveUntil: version.effectiveUntil,
  });
  const [old, fresh] = [before ? flat(before) : {}, flat(after)];
  return [...new Set([...Object.keys(old), ...Object.keys(fresh)])]
    .filter((key) => JSON.stringify(old[key] ?? null) !== JSON.stringify(fresh[key] ?? null))
    .map((key) => ({
      title: TITLES[key] ?? key,
      before: before ? shown(key, old[key], shownTime) : null,
      after: shown(key, fresh[key], shownTime),
    }));
}

function shown(key, value, shownTime) {
  if (value === null || value === undefined) return "none";
  if (key === "effectiveFrom" || key === "effectiveUntil") return shownTime(value);
  if (key === "groupingKeyNames") {
    return value.length ? value.map(keyInWords).join(", ") : "nothing: one group of all";
  }
  if (key === "aggregatorFunctionType") return NAMES[value] ?? value;
  if (key === "aggregateFieldName") return fieldName(value);
  if (key === "windowSeconds" || key === "cooldownSeconds") return span(value);
  if (key === "precision") return precisionInWords(value);
  if (key === "lateEvents") return LATE[value] ?? value;
  if (key === "limit") return amount(value);
  if (key === "limitOperatorType") return operator(value);
  if (key === "filter") return filterInWords(value);
  if (key === "conditions") return chainInWords(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value).toLowerCase();
}

/** A number, or the parameter that gives it. */
export function amount(value) {
  return typeof value?.parameter === "string" ? `parameter ${value.parameter}` : decimal(value);
}
