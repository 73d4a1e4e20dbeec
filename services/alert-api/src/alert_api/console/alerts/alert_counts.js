// Alerts of the last day by the hour, of any number of rules.

import { call } from "../core/client.js";
import { fewAtOnce, hundreds, MOST_RULES } from "./alert_pages.js";

/** An answer of /v1/alerts/summary about these rules, null for all of them. */
export async function countAlerts(ruleIds) {
  if (ruleIds === null) return ask([]);
  if (ruleIds.size > 0 && ruleIds.size <= MOST_RULES) return ask([...ruleIds]);
  // Of many rules few have alerts on one day.
  const all = await ask([]);
  const alerting = all.byRule.map(({ ruleId }) => ruleId).filter((id) => ruleIds.has(id));
  const span = { from: all.from, to: all.to };
  const nothing = { ...span, byState: { open: 0, acknowledged: 0 }, byHour: [] };
  return (await fewAtOnce(hundreds(alerting), (ids) => ask(ids, span))).reduce(together, nothing);
}

async function ask(ruleIds, span = {}) {
  const query = new URLSearchParams([...Object.entries(span), ...ruleIds.map((id) => ["ruleId", id])]);
  return (await call(`/v1/alerts/summary?${query}`)).body;
}

/** The counts of two sets of rules within one span. */
function together(one, other) {
  const byHour = new Map(one.byHour.map((hour) => [hour.hour, hour]));
  for (const { hour, ...counts } of other.byHour) {
    byHour.set(hour, { hour, ...sum(byHour.get(hour) ?? { open: 0, acknowledged: 0 }, counts) });
  }
  return { ...one, byState: sum(one.byState, other.byState), byHour: [...byHour.values()] };
}

function sum(one, other) {
  return { open: one.open + other.open, acknowledged: one.acknowledged + other.acknowledged };
}
