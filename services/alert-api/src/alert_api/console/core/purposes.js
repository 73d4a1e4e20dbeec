// What rules are for. The alert API knows nothing of it: alerts and purposes meet here, by the rule's id.

import { registry, registryItems, session } from "./client.js";
import { feeds } from "./pipeline.js";

export const SEVERITIES = ["critical", "high", "medium", "low", "info"];
/** What rules, and so their alerts, are filtered by. */
export const MEMBERS = ["severity", "tag", "owner"];
const AGAIN_MS = 10_000;

// Of rules that are deleted: the feed has none of them, and their purposes do not change any more.
const asked = { token: null, purposes: new Map() };

/** The purpose of a rule, also of a deleted one; null as long as it is not known. */
export function purposeOf(ruleId) {
  const rules = feeds.rules.data;
  if (rules === null) return null;
  const rule = rules.find((other) => other.ruleId === ruleId);
  if (rule) return rule.purpose ?? null;
  if (asked.token !== session.token) Object.assign(asked, { token: session.token, purposes: new Map() });
  const { purposes } = asked;
  if (!purposes.has(ruleId)) {
    purposes.set(ruleId, null);
    registry(`/rules/${ruleId}/purpose`).then(
      ({ body }) => purposes.set(ruleId, body),
      () => setTimeout(() => purposes.delete(ruleId), AGAIN_MS),
    );
  }
  return purposes.get(ruleId);
}

/** Whether a purpose is what the filter, a Map of `MEMBERS` to what is asked for, lets through. */
export function fits(purpose, filter) {
  return (!filter.get("severity") || purpose?.severity === filter.get("severity")) &&
    (!filter.get("tag") || purpose?.tags.includes(filter.get("tag"))) &&
    (!filter.get("owner") || purpose?.owner === filter.get("owner"));
}

/** The ids of the rules that the filter lets through, deleted ones too. */
export async function ruleIdsOf(filter) {
  const query = new URLSearchParams();
  for (const name of MEMBERS) if (filter.get(name)) query.set(name, filter.get(name));
  const [standing, deleted] = await Promise.all([
    registryItems(`/rules?${query}`, Infinity),
    registryItems(`/rules?${query}&state=DELETED`, Infinity),
  ]);
  return [...standing, ...deleted].map((rule) => rule.ruleId);
}
