// What people do to one rule: the dialogs for it, and the requests behind them.

import { tell } from "../core/approval.js";
import { Problem, registry } from "../core/client.js";
import { confirm } from "../core/confirm.js";
import { byId, setText, toast } from "../core/dom.js";
import { feeds } from "../core/pipeline.js";
import { PurposeForm } from "./purpose_form.js";
import { RolloutForm } from "./rollout_form.js";
import { RuleForm } from "./rule_form.js";
import { RuleTrace } from "./rule_trace.js";

const ALONE = "breakGlass=true";
const FLAGGED = "It is flagged until somebody else has looked at it.";
let trace = null;

/** Opens the form of a rule, null for a new one; `onDone()` is called once it is published, or a draft. */
export function editRule(rule, onDone = () => {}) {
  const form = new RuleForm(rule, () => done(onDone));
  showDialog(rule ? `Change \u201c${rule.name}\u201d` : "New rule", form.element);
  form.name.focus();
}

/** Opens the same form for a version that is to run beside the rule's own. */
export function shadowRule(rule, onDone = () => {}) {
  const form = new RuleForm(rule, () => done(onDone), {
    path: `/rules/${rule.ruleId}/shadow`,
    method: "POST",
    version: rule.version,
    go: "Start the shadow",
    said: () => "It runs beside the rule in a moment.",
  });
  showDialog(`A shadow of \u201c${rule.name}\u201d`, form.element);
  form.name.focus();
}

/** Opens the form for the share of groups that the rule's shadow counts for. */
export function rollOutShadow(rule, onDone) {
  const form = new RolloutForm(rule, () => done(onDone));
  showDialog(`Roll out the shadow of \u201c${rule.name}\u201d`, form.element);
  form.percent.focus();
}

export function promoteShadow(rule, onDone) {
  confirm({
    title: `Promote the shadow of \u201c${rule.name}\u201d?`,
    what:
      `Version ${rule.shadow.version} becomes the rule's definition, with all that it knows. From then on its ` +
      "alerts are alerts of the rule, for all groups.",
    go: "Make it the rule",
    reason: "optional",
    act: async (reason) => {
      const path = `/rules/${rule.ruleId}/shadow/promote${why(reason)}`;
      tell(await asked(registry(path, { method: "POST", version: rule.version })), "Promoted.");
      done(onDone);
    },
  });
}

export function endShadow(rule, onDone) {
  confirm({
    title: `End the shadow of \u201c${rule.name}\u201d?`,
    what: rule.shadow.percent
      ? `It judges nothing from then on. Version ${rule.definitionVersion} counts for all groups again.`
      : "It judges nothing from then on. The rule stays as it is.",
    go: "Stop it",
    reason: "optional",
    act: async (reason) => {
      const path = `/rules/${rule.ruleId}/shadow${why(reason)}`;
      tell(await asked(registry(path, { method: "DELETE", version: rule.version })), "Ended.");
      done(onDone);
    },
  });
}

export function explainRule(rule, onDone = () => {}) {
  const form = new PurposeForm(rule, () => done(onDone));
  showDialog(`What \u201c${rule.name}\u201d is for`, form.element);
}

export function traceRule(rule) {
  trace = new RuleTrace(rule);
  showDialog(`Trace of \u201c${rule.name}\u201d`, trace.element);
}

/** To be called once a second. */
export function tickTrace(now) {
  if (trace?.element.isConnected && byId("rule-dialog").open && !document.hidden) trace.tick(now);
}

/** Pauses or resumes it; what is refused is said. */
export async function changeRule(rule, verb, reason = "") {
  try {
    await stepOf(rule, verb, reason);
  } catch (error) {
    toast(error.message);
  }
  feeds.rules.hurry();
}

/** The same after a question, with a reason that may be left open. Under `fourEyes` a pause may be done alone. */
export function askToChange(rule, verb, onDone, fourEyes) {
  const pauses = verb === "pause";
  confirm({
    title: `${pauses ? "Pause" : "Resume"} \u201c${rule.name}\u201d?`,
    what: pauses
      ? "It judges nothing until it is resumed, and keeps its history."
      : "It judges again from now on.",
    go: pauses ? "Pause the rule" : "Resume the rule",
    reason: "optional",
    alone: pauses && fourEyes ? "Pause it at once" : null,
    act: async (reason, alone) => {
      await stepOf(rule, verb, reason, alone);
      done(onDone);
    },
  });
}

export function removeRule(rule, onDone = () => {}) {
  confirm({
    title: `Delete \u201c${rule.name}\u201d?`,
    what: "It judges nothing from then on, and its id is never used again. Its alerts stay.",
    go: "Delete the rule",
    danger: true,
    reason: "optional",
    act: async (reason) => {
      const path = `/rules/${rule.ruleId}${why(reason)}`;
      tell(await asked(registry(path, { method: "DELETE", version: rule.version })), "Deleted.");
      done(onDone);
    },
  });
}

/** Goes back to an old version, with a reason: that makes a new one, or a draft, unless it is done alone. */
export function revertRule(rule, version, onDone, fourEyes) {
  confirm({
    title: `Go back to version ${version.version} of \u201c${rule.name}\u201d?`,
    what: `Its definition and name become those of version ${version.version} once more, as a new version ` +
      "that holds from now on. Nothing is taken out of the history.",
    go: `Revert to version ${version.version}`,
    reason: "needed",
    alone: fourEyes ? `Revert to version ${version.version} at once` : null,
    act: async (reason, alone) => {
      const query = why(reason, `version=${version.version}${alone ? `&${ALONE}` : ""}`);
      const path = `/rules/${rule.ruleId}/revert${query}`;
      const answer = await asked(registry(path, { method: "POST", version: rule.version }));
      const next = alone ? FLAGGED : "The engine takes it in a moment.";
      tell(answer, `Published as version ${answer.body.version}. ${next}`);
      done(onDone);
    },
  });
}

/** A query with the reason for the history, where there is one. */
function why(reason, query = "") {
  const parts = [query, reason ? `reason=${encodeURIComponent(reason)}` : ""].filter(Boolean);
  return parts.length ? `?${parts.join("&")}` : "";
}

async function stepOf(rule, verb, reason, alone = false) {
  const path = `/rules/${rule.ruleId}/${verb}${why(reason, alone ? ALONE : "")}`;
  const answer = await asked(registry(path, { method: "POST", version: rule.version }));
  const paused = `Paused. ${alone ? FLAGGED : "It keeps its history."}`;
  tell(answer, verb === "pause" ? paused : "Resumed.");
}

async function asked(request) {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 412) throw error;
    throw new Error("Somebody else changed this rule meanwhile. Look at it, and try again.");
  }
}

function done(onDone) {
  byId("rule-dialog").close();
  feeds.rules.hurry();
  onDone();
}

function showDialog(title, content) {
  setText(byId("rule-dialog-title"), title);
  byId("rule-dialog-body").replaceChildren(content);
  byId("rule-dialog").showModal();
  byId("rule-dialog").scrollTop = 0;
}
