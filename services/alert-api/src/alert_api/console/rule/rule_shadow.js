// The shadow of one rule: what runs beside it, and what both gave since, or only one of them.

import { call, registry, session } from "../core/client.js";
import { button, element, ofNumbers, tableHead } from "../core/dom.js";
import { counted, fullTime, hourTime } from "../core/format.js";
import { armsOf } from "./rule_arms.js";
import { endShadow, promoteShadow, rollOutShadow } from "../rules/rule_acts.js";
import { inWords } from "../words/definition.js";

const AGAIN_MS = 5000;
const HOURS_SHOWN = 24;

export class RuleShadow {
  constructor(ruleId, onDone) {
    Object.assign(this, { ruleId, onDone, told: null, version: null, since: null, shown: null, readAt: 0 });
    this.words = element("div");
    this.said = element("p", { class: "muted", role: "status" });
    this.figures = element("div");
    this.acts = element("div", { class: "rule-acts" });
    this.element = element(
      "section",
      { class: "rule-shadow", hidden: true },
      element("h2", {}, "Shadow"),
      this.words,
      this.acts,
      this.said,
      this.figures,
    );
  }

  async take(rule, now = Date.now()) {
    const shadow = rule?.shadow ?? null;
    this.element.hidden = shadow === null;
    if (shadow === null) return void Object.assign(this, { told: null, version: null, shown: null });
    if (shadow.version !== this.version) this.begin(shadow);
    this.rule = rule;
    this.tellOf(rule, shadow);
    if (now - this.readAt < AGAIN_MS) return undefined;
    this.readAt = now;
    try {
      this.since ??= await startOf(this.ruleId, shadow);
      const asked = `/v1/rules/${this.ruleId}/shadow?version=${shadow.version}&from=${this.since}`;
      this.show((await call(asked)).body);
    } catch (error) {
      this.said.textContent = `It cannot be read now: ${error.message}`;
    }
    return undefined;
  }

  /** Another one than before: nothing that was shown is about it. */
  begin(shadow) {
    Object.assign(this, { version: shadow.version, since: null, shown: null, readAt: 0 });
    this.said.textContent = "Asking\u2026";
    this.figures.replaceChildren();
  }

  /** What it is, and what may be done with it; what is the same is left alone. */
  tellOf(rule, shadow) {
    const { version, percent, definition } = shadow;
    const told = JSON.stringify([version, percent, rule.definitionVersion, [...session.scopes]]);
    if (told === this.told) return;
    this.told = told;
    this.words.replaceChildren(
      element("p", { class: "rule-words" }, inWords(definition)),
      element("p", { class: "muted" }, standing(version, percent, rule.definitionVersion)),
    );
    const further = percent ? "Widen the rollout" : "Roll out";
    const offered = [
      percent < 99 ? button(further, () => rollOutShadow(this.rule, this.onDone)) : null,
      button("Promote the shadow", () => promoteShadow(this.rule, this.onDone), { kind: "primary" }),
      button("End the shadow", () => endShadow(this.rule, this.onDone)),
    ];
    this.acts.replaceChildren(...(session.may("rules:write") ? offered.filter(Boolean) : []));
  }

  show(compared) {
    const shown = JSON.stringify({ ...compared, to: 0 });
    if (shown === this.shown) return;
    this.shown = shown;
    const { both, onlyActive, onlyShadow } = compared;
    this.said.textContent = both + onlyActive + onlyShadow === 0
      ? `Since ${fullTime(compared.from)} neither of them has given an alert.`
      : `Since ${fullTime(compared.from)}, by event time:`;
    const versions = { trial: this.version, active: this.rule.definitionVersion };
    this.figures.replaceChildren(
      element(
        "dl",
        { class: "shadow-figures" },
        figure("both", both),
        figure("only the rule", onlyActive),
        figure("only the shadow", onlyShadow),
      ),
      ...armsOf(compared.arms, versions),
      ...(compared.hours.length ? [hoursTable(compared.hours)] : []),
      ...newest("The newest that only the rule alerted about", compared.newestOnlyActive),
      ...newest("The newest that only the shadow alerted about", compared.newestOnlyShadow),
    );
  }
}

function standing(version, percent, active) {
  const beside = `Version ${version} runs beside version ${active}, on the same history. `;
  if (!percent) return `${beside}Nobody is told of its alerts.`;
  return `${beside}It is rolled out to ${percent} % of groups: of these its alerts count, in place of those of ` +
    `version ${active}.`;
}

/** What it judges nothing from before: its start, or its effectiveFrom where that is later. */
async function startOf(ruleId, shadow) {
  const { body } = await registry(`/rules/${ruleId}/versions/${shadow.version}`);
  return Math.max(body.occurredAt, shadow.effectiveFrom);
}

function figure(name, count) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, String(count)));
}

function hoursTable(hours) {
  const cells = ({ hour, both, onlyActive, onlyShadow }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, hourTime(hour)),
      ...[both, onlyActive, onlyShadow].map((count) => element("td", { class: "number" }, String(count))),
    );
  const left = hours.length - HOURS_SHOWN;
  return element(
    "div",
    { class: "table", tabindex: 0, role: "region", "aria-label": "By hour" },
    element(
      "table",
      {},
      element(
        "caption",
        {},
        left > 0
          ? `By hour; ${counted(left, "earlier hour")} with alerts left out`
          : "By hour; those without alerts are left out",
      ),
      tableHead(["from", ...ofNumbers("both", "only the rule", "only the shadow")]),
      element("tbody", {}, ...hours.slice(-HOURS_SHOWN).reverse().map(cells)),
    ),
  );
}

function newest(title, alerted) {
  if (!alerted.length) return [];
  const rows = alerted.map(({ transactionId, eventTime }) =>
    element(
      "li",
      {},
      element("code", {}, transactionId),
      " ",
      element("span", { class: "muted" }, fullTime(eventTime)),
    )
  );
  return [element("h3", {}, title), element("ol", { class: "newest" }, ...rows)];
}
