// The head of a rule's page: its name, where it stands, and what this person may do to it.

import { session } from "../core/client.js";
import { button, element } from "../core/dom.js";
import { severityTag } from "../parts/purpose_facts.js";
import { askToChange, editRule, explainRule, removeRule, shadowRule, traceRule } from "../rules/rule_acts.js";
import { lifecycleOf, STEPS } from "../words/lifecycle.js";

const STATES = {
  APPROVED: ["approved", ""],
  ACTIVE: ["active", "good"],
  PAUSED: ["paused", "warn"],
  EXPIRED: ["ended", ""],
  RETIRED: ["retired", ""],
};

/** `{title, shown, make}`: `make()` gives the elements, and `shown` differs where they would. */
export function ruleHead(ruleId, { rule, changes, fourEyes }, onDone) {
  const title = rule?.name ?? changes.at(0)?.content?.name ?? `Rule ${ruleId}`;
  const state = rule && lifecycleOf(rule, Date.now());
  const [text, level] = STATES[state] ?? ["not published yet", ""];
  const shown = JSON.stringify([title, state, rule?.version, rule?.purpose, fourEyes, [...session.scopes]]);
  const make = () => [
    element(
      "header",
      { class: "rule-page-head", dataset: { state } },
      element(
        "div",
        { class: "rule-head" },
        element("h1", {}, title),
        element("span", { class: `tag ${level}`, id: "rule-state" }, text),
        severityTag(rule?.purpose),
      ),
      rule === null ? null : acts(rule, state, fourEyes, onDone),
    ),
  ];
  return { title, shown, make };
}

/** What the registry would refuse is not offered: by the state of the rule, and by the scopes of the key. */
function acts(rule, state, fourEyes, onDone) {
  const [writes, commands] = [session.may("rules:write"), session.may("controls:write")];
  const leads = (step) => writes && STEPS[state].includes(step);
  const stands = state !== "RETIRED";
  const buttons = [
    writes && stands ? button("Edit", () => editRule(rule, onDone), { kind: "primary" }) : null,
    writes && stands && !rule.shadow ? button("Try as a shadow", () => shadowRule(rule, onDone)) : null,
    leads("pause") ? button("Pause", () => askToChange(rule, "pause", onDone, fourEyes)) : null,
    leads("resume") ? button("Resume", () => askToChange(rule, "resume", onDone, fourEyes)) : null,
    writes && stands ? button("Purpose", () => explainRule(rule, onDone)) : null,
    (writes || commands) && stands ? button("Trace", () => traceRule(rule)) : null,
    leads("retire") ? button("Delete", () => removeRule(rule, onDone)) : null,
  ].filter(Boolean);
  return buttons.length ? element("div", { class: "rule-acts" }, buttons) : null;
}
