// What snoozes cover, until when, and how they stand.

import { element } from "../core/dom.js";
import { fieldName, fullTime, timeZone } from "../core/format.js";

const STATES = {
  requested: ["waits for approval", "warn"],
  in_force: ["in force", "good"],
  rejected: ["rejected", ""],
  ended: ["ended", ""],
  expired: ["over", ""],
};

export function snoozeTag({ state }) {
  const [text, level] = STATES[state];
  return element("span", { class: `tag ${level}` }, text);
}

/** "Large sums, about card 25, group card 25 and country DE" */
export function scopeText({ ruleId, ruleName, subject, group }) {
  const parts = [
    ruleId === null ? null : ruleName ?? `rule ${ruleId}`,
    subject && `about ${fieldName(subject.field)} ${subject.value}`,
    group && `group ${groupWords(group)}`,
  ];
  const [first, ...rest] = parts.filter(Boolean);
  return [first[0].toUpperCase() + first.slice(1), ...rest].join(", ");
}

export function groupWords(group) {
  return Object.entries(group).map(([name, value]) => `${fieldName(name)} ${value}`).join(" and ");
}

/** An instant in this person's zone, which is named, and in UTC. */
export function instantText(ms) {
  const utc = new Date(ms).toISOString().slice(0, 19).replace("T", " ");
  return `${fullTime(ms)} ${timeZone(new Date(ms))}, ${utc} UTC`;
}

/** As RFC 3339 writes it, with the offset that this person's zone has then. */
export function rfc3339(ms) {
  const offset = -new Date(ms).getTimezoneOffset();
  const local = new Date(ms + offset * 60_000).toISOString().slice(0, 19);
  const two = (number) => String(number).padStart(2, "0");
  const size = Math.abs(offset);
  return `${local}${offset < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
