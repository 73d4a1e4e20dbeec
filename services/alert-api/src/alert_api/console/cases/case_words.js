// What cases, their states and outcomes are called.

import { element } from "../core/dom.js";
import { counted, fieldName } from "../core/format.js";

export const OUTCOMES = [
  ["confirmed_fraud", "Confirmed fraud"],
  ["false_positive", "False positive"],
  ["known_accepted", "Known and accepted"],
  ["inconclusive", "Inconclusive"],
];

const STATES = {
  open: ["open", "alarm"],
  reopened: ["reopened", "alarm"],
  acknowledged: ["acknowledged", "warn"],
  assigned: ["assigned", "warn"],
  resolved: ["resolved", "good"],
};

export function outcomeName(outcome) {
  return OUTCOMES.find(([value]) => value === outcome)?.[1].toLowerCase() ?? outcome;
}

/** "card 25"; of a group without a subject's field the rule's name, and the group. */
export function subjectText({ subject, rules }) {
  if (subject.field !== null) return `${fieldName(subject.field)} ${subject.value}`;
  const group = groupText(subject.group);
  return `${rules[0]?.ruleName ?? `Rule ${subject.ruleId}`}${group ? `, ${group}` : ""}`;
}

export function groupText(group) {
  return Object.entries(group).map(([name, value]) => `${fieldName(name)} ${value}`).join(", ");
}

export function stateTag(one) {
  const [name, colour] = STATES[one.state];
  const told = one.state === "resolved" ? `${name}: ${outcomeName(one.outcome)}` : name;
  return element("span", { class: `tag ${colour}` }, told);
}

export function sizeText({ alertCount, episodeCount }) {
  return `${counted(alertCount, "alert")} in ${counted(episodeCount, "episode")}`;
}

/** Who has it in hand, in words; "" for nobody. */
export function holderText(one) {
  if (one.state === "resolved") return `by ${one.resolvedBy}`;
  if (one.assignee !== null) return one.state === "reopened" ? `was ${one.assignee}\u2019s` : one.assignee;
  return one.acknowledgedBy ?? "";
}
