// Alerts of the last day by the hour, of any number of rules.

import { call } from "../core/client.js";
import { MEMBERS } from "../core/purposes.js";
import { fewAtOnce, hundreds, MOST_RULES } from "./alert_pages.js";

// State is told apart anyhow, the span is the last day, and snoozed ones are counted unless somebody asks for others.
const NOT_COUNTED_BY = ["ruleId", "state", "from", "to", ...MEMBERS];

/** An answer of /v1/alerts/summary about these rules, null for all of them, that fit the filters of a list. */
export async function countAlerts(ruleIds, filters = new URLSearchParams()) {
  const counted = [...filters].filter(([name, value]) => !NOT_COUNTED_BY.includes(name) && value !== "all");
  const ask = (ids, span = {}) => read(ids, [...Object.entries(span), ...counted]);
  if (ruleIds === null) return ask([]);
  if (ruleIds.size > 0 && ruleIds.size <= MOST_RULES) return ask([...ruleIds]);
  // Of many rules few have alerts on one day.
  const all = await ask([]);
  const alerting = all.byRule.map(({ ruleId }) => ruleId).filter((id) => ruleIds.has(id));
  const span = { from: all.from, to: all.to };
  const nothing = { ...span, byState: { open: 0, acknowledged: 0 }, byHour: [] };
  return (await fewAtOnce(hundreds(alerting), (ids) => ask(ids, span))).reduce(together, nothing);
}

async function read(ruleIds, others) {
  const query = new URLSearchParams([...others, ...ruleIds.map((id) => ["ruleId", id])]);
  return (await call(`/v1/alerts/summary?${query}`)).body;
}

/** The counts of two sets of rules within one span. */
function together(one, other) {
  const byHour = new Map(one.byHour.map((hour) => [hour.hour, hour]));
  for (const { hour, ...counts } of other.byHour) {
    byHour.set(hour, { hour, ...sum(byHour.get(hour) ?? { open: 0, acknowledged: 0 }, counts) });
  }
  const countedFrom = Math.max(one.countedFrom ?? one.from, other.countedFrom ?? other.from);
  return { ...one, countedFrom, byState: sum(one.byState, other.byState), byHour: [...byHour.values()] };
}

function sum(one, other) {
  return { open: one.open + other.open, acknowledged: one.acknowledged + other.acknowledged };
}
