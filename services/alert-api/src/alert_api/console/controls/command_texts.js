// What can be commanded, in words: before it is sent, and once it was.

import { A, MANY, ONE } from "../core/event_type.js";
import { fieldName, fullTime } from "../core/format.js";
import { ruleName } from "../core/pipeline.js";

export const OF_RULES = [
  {
    command: "CLEAR_RULE",
    title: "Have one rule forget",
    go: "Forget for this rule",
    danger: true,
    what: "What came in before counts for this rule no more, and its silences and crossings begin " +
      "afresh. It judges on with empty windows until these have filled again. Other rules keep all " +
      "they know.",
  },
  {
    command: "CLEAR_GROUP",
    title: "Have one rule forget one group",
    go: "Forget this group",
    danger: true,
    what: "What came in of that group before counts for this rule no more, and the group's silences and " +
      "crossings begin afresh: after a test, say. Its other groups keep all they know. A rule with " +
      "several conditions or with bucketed windows can only forget as a whole.",
  },
];

export const VOID = {
  command: "VOID_TRANSACTION",
  title: `Void ${A} ${ONE}`,
  go: `Void the ${ONE}`,
  danger: true,
  what: `From then on it is as if it had not been: in no window, of no rule. What came of it stays: its ` +
    `alerts are marked and keep their state. An alert with more ${MANY} than it lists may rest on ` +
    `it without a mark.`,
};

export const BACKFILL = {
  command: "START_BACKFILL",
  title: `Bring in old ${MANY}`,
  go: "Start a backfill",
  what: `While a backfill is open, ${MANY} that name it are let in whatever their age. They count in ` +
    `windows, and trigger nothing.`,
};

export const WHOLE_LINE = [
  {
    command: "CLEAR_STATE_ALL",
    title: "Forget all history",
    go: "Forget history",
    danger: true,
    typed: true,
    what: "The engine forgets every window and every firing state, once. Rules stay, and judge on with " +
      "empty windows until these have filled again.",
  },
  {
    command: "CLEAR_STATE_ALL_STOP",
    title: "Stop forgetting",
    go: "Send it",
    what: "Accepted and recorded, and changes nothing: forgetting happens once, so there is nothing to stop.",
  },
  {
    command: "EXPORT_RULES_CURRENT",
    title: "Have the engine name its rules",
    go: "Ask the engine",
    what: "Every shard publishes the rules it holds, so that what the engine knows can be compared with " +
      "what the registry knows.",
  },
  {
    command: "DELETE_RULES_ALL",
    title: "Delete all rules",
    go: "Delete all rules",
    danger: true,
    typed: true,
    what: "Every rule is retired for good, with one event each. Their alerts stay. This cannot be undone.",
  },
];

const TITLES = {
  TRACE_RULE: "Trace a rule",
  END_BACKFILL: "End a backfill",
  ...Object.fromEntries(
    [...OF_RULES, VOID, BACKFILL, ...WHOLE_LINE].map(({ command, title }) => [command, title]),
  ),
};
const EFFECTS = {
  DELETE_RULES_ALL: (item) => `${item.deletedRules} rules deleted.`,
  TRACE_RULE: (item) => `Rule ${item.ruleId}, until ${fullTime(item.traceUntil)}.`,
  CLEAR_RULE: (item) => `${ruleName(item.ruleId)}.`,
  CLEAR_GROUP: (item) => `${ruleName(item.ruleId)}: ${groupInWords(item.group)}.`,
  VOID_TRANSACTION: (item) => `${item.transactionId} of ${fullTime(item.eventTime)}.`,
  START_BACKFILL: (item) => `Backfill ${item.commandId}.`,
  END_BACKFILL: (item) =>
    `Backfill ${item.backfillId}${
      item.completeFrom === null ? "" : `: history is whole from ${fullTime(item.completeFrom)} on`
    }.`,
};

export function titleOf({ command }) {
  return TITLES[command] ?? command;
}

/** What a command did, or is about. */
export function effectOf(item) {
  return EFFECTS[item.command]?.(item) ?? item.effect;
}

/** "card 25, merchant 12" */
export function groupInWords(group) {
  return Object.entries(group).map(([name, value]) => `${fieldName(name)} ${value}`).join(", ") ||
    `the one group of all ${MANY}`;
}
