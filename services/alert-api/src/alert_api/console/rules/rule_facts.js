// What the list of rules says of one: its words, what it is for, published beside applied.

import { element } from "../core/dom.js";
import { fullTime, timeOfDay } from "../core/format.js";
import { isApplied } from "../core/pipeline.js";
import { purposeLines, severityTag } from "../parts/purpose_facts.js";
import { inWords } from "../words/definition.js";

/** `counted` is the element for what the engine has counted. */
export function ruleFacts(rule, counted) {
  return element(
    "div",
    { class: "rule-main" },
    element(
      "div",
      { class: "rule-head" },
      element("a", {
        class: "rule-name",
        href: `/rules/${rule.ruleId}`,
        "data-go": true,
      }, rule.name),
      severityTag(rule.purpose),
      rule.state === "PAUSED" ? element("span", { class: "tag warn" }, "paused") : null,
    ),
    element("p", { class: "rule-words" }, inWords(rule.definition)),
    purposeLines(rule.purpose),
    versionTags(rule, counted),
  );
}

/** Published beside applied, and from when on it counts; `rest` comes behind. */
export function versionTags(rule, ...rest) {
  return element(
    "div",
    { class: "rule-versions" },
    element("span", { class: "tag" }, "published ", element("b", {}, `v${rule.version}`)),
    appliedTag(rule),
    rule.effectiveFrom > Date.now()
      ? element("span", { class: "tag" }, `in force from ${timeOfDay(rule.effectiveFrom)}`)
      : null,
    endTag(rule.effectiveUntil),
    rule.status?.warmFrom > Date.now()
      ? element(
        "span",
        { class: "tag", title: fullTime(rule.status.warmFrom) },
        `window full at ${timeOfDay(rule.status.warmFrom)}`,
      )
      : null,
    rest,
  );
}

function endTag(end) {
  if (end === null) return null;
  const title = fullTime(end);
  return end > Date.now()
    ? element("span", { class: "tag", title }, `judges until ${timeOfDay(end)}`)
    : element("span", { class: "tag warn", title }, `ended ${timeOfDay(end)}`);
}

function appliedTag(rule) {
  if (isApplied(rule)) {
    const title = rule.status.appliedAt ? fullTime(rule.status.appliedAt) : "";
    return element(
      "span",
      { class: "tag good applied", title },
      "\u2713 applied ",
      `v${rule.status.appliedVersion}`,
    );
  }
  const before = rule.status?.appliedVersion;
  return element(
    "span",
    { class: "tag alarm" },
    before ? `applied v${before}, taking v${rule.version}` : "not applied yet",
  );
}
