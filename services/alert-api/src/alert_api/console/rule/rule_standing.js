// What a rule says, where in its life it stands, what is likely wrong with it, and what it is for.

import { session } from "../core/client.js";
import { element } from "../core/dom.js";
import { fullTime } from "../core/format.js";
import { isSaid, purposeLines } from "../parts/purpose_facts.js";
import { versionTags } from "../rules/rule_facts.js";
import { warningList, warningsOf } from "../rules/rule_warnings.js";
import { inWords } from "../words/definition.js";
import { isOpen } from "./rule_reading.js";
import { LIFE, lifecycleOf, stepsInWords } from "../words/lifecycle.js";

export class RuleStanding {
  constructor(ruleId) {
    Object.assign(this, { ruleId, shown: null, checked: null });
    this.warnings = element("div");
    this.element = element("div", { class: "stack" });
  }

  take(rule, changes) {
    const open = changes.find(isOpen) ?? null;
    const life = rule && lifecycleOf(rule, Date.now());
    const shown = JSON.stringify([rule, life, open?.state]);
    if (rule && life !== "RETIRED") this.check(rule);
    if (shown === this.shown) return;
    this.shown = shown;
    this.element.replaceChildren(
      ...[
        rule && this.said(rule, life),
        element(
          "section",
          {},
          element("h2", {}, "Life"),
          lifeLine(life, open?.state),
          this.facts(rule, life),
        ),
        rule && purpose(rule),
      ].filter(Boolean),
    );
  }

  said(rule, life) {
    return element(
      "section",
      { class: "rule-said" },
      element("p", { class: "rule-definition" }, inWords(rule.definition)),
      life === "RETIRED" ? null : versionTags(rule),
      this.warnings,
    );
  }

  facts(rule, life) {
    if (rule === null) return element("p", { class: "muted" }, "It judges nothing until it is approved.");
    const did = life === "RETIRED" ? "deleted" : "changed";
    return [
      element("p", { class: "muted small life-steps" }, stepsInWords(life)),
      element(
        "dl",
        { class: "pairs" },
        pair("Rule", String(this.ruleId)),
        pair("Version", `${rule.version}, ${did} last by ${rule.changedBy}, ${fullTime(rule.changedAt)}`),
        rule.definitionVersion === rule.version
          ? null
          : pair("Definition", `as version ${rule.definitionVersion} brought it`),
        pair("In force from", fullTime(rule.effectiveFrom)),
        rule.effectiveUntil ? pair("Judges until", fullTime(rule.effectiveUntil)) : null,
        pair("Its hash", element("span", { class: "mono hash" }, rule.definitionHash)),
        session.may("audit:read") ? pair("Audit trail", auditLink(this.ruleId)) : null,
      ),
    ];
  }

  /** Once for each version; lists and parameters may move meanwhile, so somebody who comes back sees them anew. */
  async check({ version, name, definition }) {
    if (this.checked === version) return;
    this.checked = version;
    try {
      const warnings = await warningsOf({ ...definition, name }, this.ruleId);
      if (this.checked === version) this.warnings.replaceChildren(...[warningList(warnings)].filter(Boolean));
    } catch {
      this.checked = null; // asked again at the next reading
    }
  }
}

/** The states in their order; where the rule stands is marked, and where a change of it waits. */
function lifeLine(life, waiting) {
  return element(
    "ol",
    { class: "life", "aria-label": "Where it stands" },
    LIFE.map(([state, text]) =>
      element(
        "li",
        {
          "aria-current": state === life ? "step" : null,
          dataset: { state, waits: String(state === waiting) },
        },
        element("span", { class: "life-state" }, text),
        state === waiting ? element("span", { class: "unseen" }, ": a change waits") : null,
      )
    ),
  );
}

function purpose(rule) {
  return element(
    "section",
    {},
    element("h2", {}, "What it is for"),
    isSaid(rule.purpose)
      ? purposeLines(rule.purpose)
      : element("p", { class: "muted" }, "Nobody has said what it is for."),
  );
}

function auditLink(ruleId) {
  const href = `/audit?kind=rule&subject=${ruleId}`;
  return element("a", { href, "data-go": true }, "who did what with it");
}

function pair(name, value) {
  return [element("dt", {}, name), element("dd", {}, value)];
}
