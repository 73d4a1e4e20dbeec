// What webhooks are told, and what came of it, in words.

import { element } from "../core/dom.js";
import { fieldName } from "../core/format.js";

/** Kinds of events, as they follow on "a case is". */
export const EVENTS = {
  CaseOpened: "opened",
  CaseEpisodeJoined: "joined by another rule\u2019s alerts",
  CaseAcknowledged: "acknowledged",
  CaseAssigned: "assigned",
  CaseResolved: "resolved",
  CaseReopened: "reopened",
  CaseCommented: "commented on",
};
export const TEMPLATES = {
  cloudevents: "CloudEvents, for programs",
  slack: "A sentence, for Slack and what takes the same",
};
export const SEVERITIES = ["critical", "high", "medium", "low", "info"];
/** Subjects that are named in a sentence. */
const SHOWN = 3;
export const PING = "WebhookPinged";
/** A position that no log reaches: a replay from there leaves out what waits. */
export const END = Number.MAX_SAFE_INTEGER;

const STATES = {
  requested: ["waits for approval", "warn"],
  active: ["active", "good"],
  paused: ["paused", ""],
};
const RESULTS = {
  delivered: ["taken", "good"],
  retrying: ["tried again", "warn"],
  dead: ["dead letter", "alarm"],
};
const STEPS = {
  WebhookRequested: "asked for it",
  WebhookApproved: "approved it",
  WebhookChanged: "changed it",
  WebhookPaused: "paused it",
  WebhookResumed: "resumed it",
  WebhookTested: "sent a test",
  WebhookReplayed: "replayed it",
  WebhookSecretRotated: "gave it a new secret",
  WebhookRemoved: "removed it",
};

export function stateTag({ state }) {
  const [text, level] = STATES[state];
  return element("span", { class: `tag ${level}` }, text);
}

export function resultTag({ type, state }) {
  const [text, level] = type === PING && state === "dead" ? ["not taken", "alarm"] : RESULTS[state];
  return element("span", { class: `tag ${level}` }, text);
}

/** "Cases about card 25, that are high or worse, of rules 3 and 7, when one is opened or resolved" */
export function toldText({ minSeverity, ruleIds, subjects, eventTypes }) {
  const severe = minSeverity && minSeverity !== "info" ? ` that are ${orWorse(minSeverity)}` : "";
  const rated = minSeverity === "info" ? " of any severity that somebody has named" : "";
  const rules = ruleIds.length
    ? `, of ${ruleIds.length === 1 ? "rule" : "rules"} ${listed(ruleIds, "and")}`
    : "";
  const about = subjects.length ? ` about ${aboutText(subjects)}${severe || rated ? "," : ""}` : "";
  const all = eventTypes.length === Object.keys(EVENTS).length;
  const kinds = all ? "whatever becomes of them" : `when one is ${listed(eventTypes.map(eventText), "or")}`;
  const some = about || severe || rated || rules;
  return `${some ? "Cases" : "All cases"}${about}${severe}${rated}${rules}, ${kinds}`;
}

function aboutText(subjects) {
  const named = subjects.slice(0, SHOWN).map((subject) => {
    const [field, ...value] = subject.split(":");
    return `${fieldName(field)} ${value.join(":")}`;
  });
  const more = subjects.length - named.length;
  return listed(more ? [...named, `${more} more`] : named, more ? "and" : "or");
}

export function orWorse(severity) {
  return severity === SEVERITIES[0] ? severity : `${severity} or worse`;
}

export function eventText(type) {
  return type === PING ? "test" : EVENTS[type] ?? type;
}

/** "case opened" */
export function deliveryName({ type }) {
  return type === PING ? "Test" : `Case ${eventText(type)}`;
}

/** "answered 503", "timed out" */
export function reasonText({ status, error }) {
  return status === null ? error ?? "no answer" : `answered ${status}`;
}

/** "answered 204", "answered 503, tried 3 times" */
export function outcomeText(delivery) {
  const tries = delivery.attempts > 1 ? `, tried ${delivery.attempts} times` : "";
  return `${reasonText(delivery)}${tries}`;
}

export function stepText({ type, detail }) {
  if (type === "WebhookReplayed" && detail.afterPosition === END) return "left out what waited";
  if (type === "WebhookReplayed" && detail.afterPosition !== undefined) {
    return `${STEPS[type]} from behind position ${detail.afterPosition}`;
  }
  if (type === "WebhookChanged" && detail.secretChanged) return "changed it, its secret too";
  return STEPS[type];
}

function listed(words, last) {
  if (words.length === 1) return String(words[0]);
  return `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}
