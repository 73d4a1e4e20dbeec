// The parts of the line as this console sees them, read once for all views.

import { call, registryItems, session } from "./client.js";
import { Feed } from "./event_feed.js";
import { here } from "./router.js";

const live = () => here().view === "live";

/** The rules that are not deleted, each with `status`: what the engine took of it. */
async function readRules() {
  const [rules, statuses] = await Promise.all([registryItems("/rules"), registryItems("/rule-status")]);
  const applied = new Map(statuses.map((status) => [status.ruleId, status]));
  return rules.filter((rule) => rule.state !== "DELETED").map((rule) => ({
    ...rule,
    status: applied.get(rule.ruleId) ?? null,
  }));
}

const body = async (path) => (await call(path)).body;

export const feeds = {
  rules: new Feed("The rules registry", readRules),
  engine: new Feed("The engine", () => body("/console/engine")),
  transactions: new Feed("Kafka", () => body("/console/transactions")),
  health: new Feed("The alert API", () => body("/v1/health"), {
    everyMs: 3000,
    wanted: () => here().view === "health",
  }),
  traffic: new Feed("The traffic generator", () => body("/console/generator/traffic"), {
    wanted: () => live() && session.may("traffic:read"),
  }),
};

/** Whether the engine has taken the rule as it is published. */
export function isApplied(rule) {
  const applied = rule.status?.appliedVersion ?? null;
  return applied !== null && applied >= rule.version;
}

export function ruleName(ruleId) {
  return feeds.rules.data?.find((rule) => rule.ruleId === ruleId)?.name ?? `Rule ${ruleId}`;
}
