// A rule's versions, newest first, each with what it changed.

import { registryItems } from "../core/client.js";
import { differences, inWords } from "../words/definition.js";
import { element } from "../core/dom.js";
import { fullTime } from "../core/format.js";
import { diffTable } from "../parts/diff_table.js";
import { versionCompare } from "./version_compare.js";

const HAPPENED = {
  RulePublished: "published",
  RulePaused: "paused",
  RuleResumed: "resumed",
  RuleDeleted: "deleted",
};

export function ruleVersions(rule) {
  const list = element("ol", { class: "versions" }, element("li", { class: "muted" }, "Loading\u2026"));
  const whole = element("div", {}, list);
  registryItems(`/rules/${rule.ruleId}/versions`).then(
    (versions) => {
      list.replaceChildren(
        ...versions.map((version, index) => entry(version, versions[index - 1] ?? null, rule)).reverse(),
      );
      const compare = versionCompare(rule, versions);
      if (compare) whole.prepend(compare);
    },
    (error) =>
      list.replaceChildren(element("li", { class: "error" }, `Cannot be read now: ${error.message}`)),
  );
  return whole;
}

function entry(version, before, rule) {
  const changes = before ? differences(before, version, fullTime) : [];
  const isApplied = rule.status?.appliedVersion === version.version;
  return element(
    "li",
    {},
    element(
      "div",
      { class: "version-head" },
      element("b", {}, `Version ${version.version}`),
      element(
        "span",
        { class: "muted" },
        `${HAPPENED[version.type] ?? version.type} by ${version.actor}, ${fullTime(version.occurredAt)}`,
      ),
      isApplied ? element("span", { class: "tag good" }, "\u2713 applied") : null,
    ),
    before === null ? element("p", { class: "rule-words" }, inWords(version.definition)) : null,
    changes.length ? diffTable(changes) : null,
  );
}
