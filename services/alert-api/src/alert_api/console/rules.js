// The rules, each with what the registry published and what the engine applied.

import { call } from "./client.js";
import { arrange, byId, element, setText } from "./dom.js";
import { fullTime, inWords, timeOfDay } from "./format.js";

const ADDRESS = "/console/registry/";

export class RuleList {
  constructor() {
    this.rows = new Map();
  }

  async refresh() {
    const [rules, statuses] = await Promise.all([all("rules"), all("rule-status")]);
    const applied = new Map(statuses.map((status) => [status.ruleId, status]));
    const shown = rules.filter((rule) => rule.state !== "DELETED");
    this.render(shown, applied);
    this.offer(shown);
  }

  reset() {
    this.rows.clear();
    byId("rule-list").replaceChildren();
    setText(byId("figure-applied"), "\u2013");
  }

  render(rules, applied) {
    const kept = new Map();
    let inStep = 0;
    for (const rule of rules) {
      const status = applied.get(rule.ruleId);
      if (isApplied(rule, status)) inStep += 1;
      const shown = JSON.stringify([rule, status]);
      const old = this.rows.get(rule.ruleId);
      kept.set(rule.ruleId, old?.shown === shown ? old : { shown, element: row(rule, status) });
    }
    this.rows = kept;
    arrange(byId("rule-list"), [...kept.values()].map((each) => each.element));
    byId("rules-empty").hidden = rules.length > 0;
    setText(byId("rules-empty"), "There are no rules yet. Post one to the rules registry and it shows up here.");
    setText(byId("figure-applied"), rules.length ? `${inStep} of ${rules.length}` : "0");
  }

  /** The rules to filter alerts by; rebuilt only when they changed, as an open list would close. */
  offer(rules) {
    const select = byId("rule-filter");
    const names = JSON.stringify(rules.map((rule) => [rule.ruleId, rule.name]));
    if (select.dataset.names === names) return;
    const chosen = select.value;
    select.dataset.names = names;
    select.replaceChildren(element("option", { value: "" }, "Every rule"),
      ...rules.map((rule) => element("option", { value: rule.ruleId }, rule.name)));
    if ([...select.options].some((option) => option.value === chosen)) select.value = chosen;
  }
}

async function all(name) {
  const items = [];
  let next = `${ADDRESS}${name}?limit=100`;
  while (next && items.length < 1000) {
    const page = await call(next);
    items.push(...page.body.items);
    // The registry names its own address; the way there goes through this service.
    next = page.next && ADDRESS + name + new URL(page.next, location.origin).search;
  }
  return items;
}

function isApplied(rule, status) {
  return status !== undefined && status.appliedVersion !== null && status.appliedVersion >= rule.version;
}

function row(rule, status) {
  return element("li", { class: "rule" },
    element("div", { class: "rule-head" },
      element("span", { class: "rule-name" }, rule.name),
      rule.state === "PAUSED" ? element("span", { class: "tag warn" }, "paused") : null),
    element("p", { class: "rule-words" }, inWords(rule.definition)),
    element("div", { class: "rule-versions" },
      element("span", { class: "tag" }, "published ", element("b", {}, `v${rule.version}`)),
      appliedTag(rule, status),
      status?.warmFrom > Date.now() ? element("span", { class: "tag", title: fullTime(status.warmFrom) },
        `window full at ${timeOfDay(status.warmFrom)}`) : null));
}

function appliedTag(rule, status) {
  if (isApplied(rule, status)) {
    const title = status.appliedAt ? fullTime(status.appliedAt) : "";
    return element("span", { class: "tag good", title }, "\u2713 applied ", `v${status.appliedVersion}`);
  }
  const before = status?.appliedVersion;
  return element("span", { class: "tag alarm" }, before ? `applied v${before}, taking v${rule.version}` : "not applied yet");
}
