// A change in words: what it is about, and what would be different after it.

import { counted, fullTime } from "../core/format.js";
import { element } from "../core/dom.js";
import { registry } from "../core/client.js";
import { differences, inWords } from "../words/definition.js";
import { feeds } from "../core/pipeline.js";
import { diffTable } from "../parts/diff_table.js";
import { warningList, warningsOf } from "../rules/rule_warnings.js";

const SHOWN = 20;
const VERBS = {
  PUBLISH_RULE: "New rule",
  CHANGE_RULE: "Change rule",
  PAUSE_RULE: "Pause rule",
  RESUME_RULE: "Resume rule",
  DELETE_RULE: "Delete rule",
  START_SHADOW: "Start a shadow of rule",
  ROLL_OUT_SHADOW: "Roll out the shadow of rule",
  END_SHADOW: "End the shadow of rule",
  PROMOTE_SHADOW: "Promote the shadow of rule",
  LIST: "List",
  LIST_ENTRIES: "Entries of the list",
  PARAMETER: "Parameter",
  SETTINGS: "Settings of the engine",
  COMMAND: "Command",
};

/** Its title, with the name of what it changes. */
export function titleOf(change) {
  const { kind, subject, content } = change;
  if (kind === "COMMAND") return `Command ${content.command}`;
  const rule = ruleOf(change);
  const name = content?.name ?? rule?.name;
  const named = change.ruleId && name
    ? ` ${subject.id} \u201c${name}\u201d`
    : subject.id
    ? ` ${subject.id}`
    : "";
  return `${VERBS[kind] ?? kind}${named}`;
}

/** What would be different, as elements; asks the registry where the listing does not say it. */
export async function whatChanges(change) {
  const { kind, content } = change;
  if (isSettled(change)) return whatWasAsked(change);
  if (kind === "PUBLISH_RULE") return [words(content.definition), ...await warnings(change)];
  if (kind === "CHANGE_RULE" || kind === "START_SHADOW") {
    return [await ruleChanges(change), ...await warnings(change)];
  }
  if (kind === "LIST") return await listChanges(change);
  if (kind === "LIST_ENTRIES") return await entryChanges(change);
  if (kind === "PARAMETER") return [diffTable([await parameterChange(change)])];
  if (kind === "SETTINGS" || kind === "COMMAND") return [diffTable(members(content))];
  if (kind === "PROMOTE_SHADOW" || kind === "ROLL_OUT_SHADOW") {
    const shadow = await valueNow(`/rules/${change.ruleId}`, "shadow");
    const share = kind === "ROLL_OUT_SHADOW" ? [shareTable(content, shadow)] : [];
    return shadow ? [words(shadow.definition), ...share] : share;
  }
  const definition = await valueNow(`/rules/${change.ruleId}`, "definition");
  return definition ? [words(definition)] : [];
}

/** Nobody has to look at it any more; what holds now may be of later changes. */
function isSettled({ state, awaitsReview }) {
  return state !== "DRAFT" && state !== "SUBMITTED" && !awaitsReview;
}

function whatWasAsked({ kind, content }) {
  if (content?.definition) {
    return [words(content.definition), end(content.effectiveUntil ?? null)].filter(Boolean);
  }
  if (kind === "ROLL_OUT_SHADOW") return [shareTable(content, null)];
  if (kind === "PARAMETER") return [diffTable([{ title: "value", before: "", after: content.value }])];
  return kind === "SETTINGS" || kind === "COMMAND" ? [diffTable(members(content))] : [];
}

function shareTable({ percent }, shadow) {
  const before = shadow ? `${shadow.percent} % of groups` : "";
  return diffTable([{ title: "counts for", before, after: `${percent} % of groups` }]);
}

async function warnings({ ruleId, content }) {
  const name = content.name ? { name: content.name } : {};
  return [warningList(await warningsOf({ ...content.definition, ...name }, ruleId))].filter(Boolean);
}

function ruleOf({ ruleId }) {
  return feeds.rules.data?.find((rule) => rule.ruleId === ruleId) ?? null;
}

function end(effectiveUntil) {
  return effectiveUntil === null
    ? null
    : element("p", { class: "rule-words" }, `It judges until ${fullTime(effectiveUntil)}.`);
}

function words(definition) {
  return element("p", { class: "rule-words" }, inWords(definition));
}

async function ruleChanges(change) {
  const { name, definition, effectiveFrom, effectiveUntil } = change.content;
  const rule = await standing(`/rules/${change.ruleId}`);
  if (!rule) return words(definition);
  const after = {
    ...rule,
    name: name ?? rule.name,
    definition,
    effectiveFrom: effectiveFrom ?? rule.effectiveFrom,
    // an end does not stay with the rule: without one there is none
    effectiveUntil: effectiveUntil ?? null,
  };
  const changed = differences(rule, after, fullTime);
  return changed.length ? diffTable(changed) : words(definition);
}

async function parameterChange({ subject, content }) {
  return {
    title: "value",
    before: await valueNow(`/parameters/${subject.id}`, "value"),
    after: content.value,
  };
}

async function listChanges(change) {
  const { body } = await registry(`/changes/${change.changeId}`);
  const wanted = body.content.value;
  const now = await valueNow(`/lists/${change.subject.id}`, "values") ?? [];
  const [old, fresh] = [new Set(now), new Set(wanted)];
  const added = wanted.filter((value) => !old.has(value));
  const removed = now.filter((value) => !fresh.has(value));
  return [
    element("p", { class: "rule-words" }, `${counted(wanted.length, "value")}, ${now.length} now.`),
    diffTable([
      { title: "added", before: "", after: some(added) },
      { title: "removed", before: some(removed), after: "" },
    ]),
  ];
}

async function entryChanges(change) {
  const { body } = await registry(`/changes/${change.changeId}`);
  const { added, removed } = body.content;
  const texts = added.map(({ value, until }) => until ? `${value} until ${fullTime(until)}` : value);
  return [
    element(
      "p",
      { class: "rule-words" },
      `${counted(added.length, "value")} to add, ${removed.length} to remove.`,
    ),
    diffTable([
      { title: "added", before: "", after: some(texts) },
      { title: "removed", before: some(removed), after: "" },
    ]),
  ];
}

async function valueNow(path, member) {
  return (await standing(path))?.[member] ?? null;
}

/** What stands there now; null for what is not there yet, or not any more. */
async function standing(path) {
  try {
    return (await registry(path)).body;
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

function some(values) {
  const rest = values.length - SHOWN;
  return `${values.slice(0, SHOWN).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

function members(content) {
  return Object.entries(content).filter(([name, value]) => name !== "base" && value !== null)
    .map(([title, value]) => ({
      title,
      before: "",
      after: typeof value === "object" ? JSON.stringify(value) : String(value),
    }));
}
