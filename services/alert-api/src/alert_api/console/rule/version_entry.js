// One version of a rule: what happened, who did it, why, and what it changed.

import { element } from "../core/dom.js";
import { fullTime } from "../core/format.js";
import { diffTable } from "../parts/diff_table.js";
import { differences, inWords } from "../words/definition.js";

const HAPPENED = {
  RulePublished: "published",
  RulePaused: "paused",
  RuleResumed: "resumed",
  RuleDeleted: "deleted",
  RuleShadowStarted: "started as a shadow",
  RuleShadowRolledOut: "shadow rolled out",
  RuleShadowEnded: "shadow ended",
  RuleShadowPromoted: "promoted from a shadow",
};

const SOON_MS = 1000;

/** An item of the history. `before` is the version before it where that is known, `revert` a button or null. */
export function versionEntry(version, { before, applied, approver, isAlone, isWanted, revert }) {
  const changes = before ? differences(before, asTold(version, before), fullTime) : [];
  return element(
    "li",
    { dataset: { version: version.version }, "aria-current": isWanted ? "true" : null },
    element(
      "div",
      { class: "version-head" },
      element("b", {}, `Version ${version.version}`),
      element("span", { class: "muted" }, who(version, approver, isAlone)),
      element("span", { class: "tag" }, version.state.toLowerCase()),
      applied ? element("span", { class: "tag good" }, "\u2713 applied") : null,
    ),
    version.reason ? element("p", {}, element("q", {}, version.reason)) : null,
    before === null ? element("p", { class: "rule-words" }, inWords(version.definition)) : null,
    changes.length ? diffTable(changes) : null,
    revert,
  );
}

/** In force from the moment it was made is what every version is: only another time is worth a line. */
function asTold(version, before) {
  const isChosen = Math.abs(version.effectiveFrom - version.occurredAt) > SOON_MS;
  return isChosen ? version : { ...version, effectiveFrom: before.effectiveFrom };
}

function who({ type, actor, occurredAt, percent }, approver, isAlone) {
  const approved = approver ? `, approved by ${approver}` : isAlone ? " alone" : "";
  const share = percent ? ` to ${percent} %` : "";
  return `${HAPPENED[type] ?? type}${share} by ${actor}${approved}, ${fullTime(occurredAt)}`;
}
