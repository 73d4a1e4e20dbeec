// A rule's definition in words, and what differs between two of them.

import { decimal, fieldName, operator, span } from "./format.js";

export const FUNCTIONS = [["SUM", "Sum"], ["AVG", "Average"], ["MIN", "Smallest"], ["MAX", "Largest"], ["COUNT", "Number of payments"]];
export const OPERATORS = [">", ">=", "<", "<=", "=", "!="];
const NAMES = Object.fromEntries(FUNCTIONS);

/** A rule definition as one sentence. */
export function inWords(definition) {
  const kind = definition.aggregatorFunctionType;
  const what = kind === "COUNT" ? NAMES.COUNT : `${NAMES[kind] ?? kind} of ${fieldName(definition.aggregateFieldName ?? "")}`;
  const keys = definition.groupingKeyNames ?? [];
  const per = keys.length === 0 ? "over all payments" : `per ${keys.map(fieldName).join(" and ")}`;
  const only = definition.filter ? `, only where ${filterInWords(definition.filter)}` : "";
  const when = [definition.firing === "crossing" ? "fires when the limit is crossed" : null,
    definition.resetOnAlert ? "starts afresh after an alert" : null,
    definition.lateEvents === "store" ? "late payments count, but do not fire" : null].filter(Boolean);
  return `${what} ${per} within ${span(definition.windowSeconds)} ${operator(definition.limitOperatorType)} ${amount(definition.limit)}`
    + `${only}${when.length ? ` (${when.join("; ")})` : ""}`;
}

/** A filter tree in words: all, any, not over comparisons. */
export function filterInWords(tree, inside = false) {
  for (const [key, word] of [["all", " and "], ["any", " or "]]) {
    if (Array.isArray(tree?.[key])) {
      const text = tree[key].map((each) => filterInWords(each, true)).join(word);
      return inside && tree[key].length > 1 ? `(${text})` : text;
    }
  }
  if (tree?.not !== undefined) return `not ${filterInWords(tree.not, true)}`;
  if (Array.isArray(tree?.in)) return `${fieldName(tree.field)} is one of ${tree.in.join(", ")}`;
  if (tree?.in?.list !== undefined) return `${fieldName(tree.field)} is in the list ${tree.in.list}`;
  if (tree?.operator !== undefined) return `${fieldName(tree.field)} ${operator(tree.operator)} ${tree.value?.parameter ? amount(tree.value) : tree.value}`;
  return JSON.stringify(tree);
}

const TITLES = { name: "Name", groupingKeyNames: "Grouped by", aggregatorFunctionType: "Aggregate", aggregateFieldName: "Of field",
  limitOperatorType: "Comparison", limit: "Limit", windowSeconds: "Window", filter: "Filter", firing: "Fires", resetOnAlert: "Reset on alert",
  lateEvents: "Late payments", precision: "Precision", state: "State", effectiveFrom: "In force from" };

/** What changed from one version to the next: `[{title, before, after}]`. */
export function differences(before, after, shownTime) {
  const flat = (version) => ({ name: version.name, state: version.state, ...version.definition, effectiveFrom: version.effectiveFrom });
  const [old, fresh] = [before ? flat(before) : {}, flat(after)];
  return [...new Set([...Object.keys(old), ...Object.keys(fresh)])]
    .filter((key) => JSON.stringify(old[key] ?? null) !== JSON.stringify(fresh[key] ?? null))
    .map((key) => ({ title: TITLES[key] ?? key, before: before ? shown(key, old[key], shownTime) : null, after: shown(key, fresh[key], shownTime) }));
}

function shown(key, value, shownTime) {
  if (value === null || value === undefined) return "none";
  if (key === "effectiveFrom") return shownTime(value);
  if (key === "groupingKeyNames") return value.length ? value.map(fieldName).join(", ") : "nothing: one group of all";
  if (key === "aggregatorFunctionType") return NAMES[value] ?? value;
  if (key === "aggregateFieldName") return fieldName(value);
  if (key === "windowSeconds") return span(value);
  if (key === "limit") return amount(value);
  if (key === "limitOperatorType") return operator(value);
  if (key === "filter") return filterInWords(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value).toLowerCase();
}

/** A number, or the parameter that gives it. */
export function amount(value) {
  return typeof value?.parameter === "string" ? `parameter ${value.parameter}` : decimal(value);
}
