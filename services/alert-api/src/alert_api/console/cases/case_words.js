// What cases, their states and outcomes are called.

import { element } from "../core/dom.js";
import { counted, fieldName, fullTime, span, timeZone } from "../core/format.js";
import { outcomeName } from "../words/outcomes.js";

const STATES = {
  open: ["open", "alarm"],
  reopened: ["reopened", "alarm"],
  acknowledged: ["acknowledged", "warn"],
  assigned: ["assigned", "warn"],
  resolved: ["resolved", "good"],
};

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

/** When the case is due, and whose clock says so; null where it may wait for ever. */
export function dueTag({ dueAt }, now) {
  if (dueAt === null || dueAt === undefined) return null;
  const late = dueAt < now;
  const zone = timeZone(new Date(dueAt));
  const title = `Due ${fullTime(dueAt)}, ${zone}; ${new Date(dueAt).toISOString()} in UTC`;
  const told = late ? `overdue by ${rough(now - dueAt)}` : `due in ${rough(dueAt - now)}`;
  return element("span", { class: `tag due ${late ? "alarm" : ""}`, title }, told);
}

/** A time as people say it: whole minutes, then hours, then days. */
function rough(ms) {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  if (minutes < 120) return span(minutes * 60);
  return minutes < 2_880
    ? span(Math.round(minutes / 60) * 3_600)
    : span(Math.round(minutes / 1_440) * 86_400);
}

/** How many cases there are, by state, and how many of them are overdue. */
export function countsText({ total, byState, overdue }) {
  const parts = Object.entries(byState).filter(([, count]) => count > 0).map(([state, count]) =>
    `${count} ${state}`
  );
  const all = parts.length > 1 ? `${counted(total, "case")}: ${parts.join(", ")}` : counted(total, "case");
  return overdue > 0 ? `${all}; ${overdue} overdue` : all;
}
