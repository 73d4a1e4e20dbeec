// What a rule is for, as its row, its alerts and the page of an alert show it.

import { element } from "../core/dom.js";

const LOUD = { critical: "alarm", high: "alarm", medium: "warn" };

/** The severity as a tag; null where nobody has said one. */
export function severityTag(purpose) {
  if (!purpose?.severity) return null;
  const { severity } = purpose;
  return element("span", {
    class: `tag severity ${LOUD[severity] ?? ""}`,
    title: "Severity of the rule",
  }, severity);
}

/** Owner and tags. */
function purposeTags(purpose) {
  return [
    purpose.owner ? element("span", { class: "tag" }, "owner ", element("b", {}, purpose.owner)) : null,
    purpose.tags.map((tag) => element("span", { class: "tag" }, `#${tag}`)),
  ];
}

/** The link to what to do about an alert; null where there is none. It leaves the console. */
function playbookLink(purpose) {
  if (!purpose.playbook?.startsWith("https://")) return null;
  return element("a", {
    class: "playbook",
    href: purpose.playbook,
    target: "_blank",
    rel: "noopener noreferrer",
    title: purpose.playbook,
  }, "Playbook \u2197");
}

/** Whether anybody has said anything. */
export function isSaid(purpose) {
  return Boolean(
    purpose &&
      (purpose.description || purpose.severity || purpose.owner || purpose.playbook || purpose.tags.length),
  );
}

/** Description, owner, tags and playbook, one below the other; nothing where nobody has said it. */
export function purposeLines(purpose) {
  if (!isSaid(purpose)) return [];
  const { description } = purpose;
  return [
    ...(description ? [element("p", { class: "rule-purpose" }, description)] : []),
    element("div", { class: "rule-versions" }, purposeTags(purpose), playbookLink(purpose)),
  ];
}
