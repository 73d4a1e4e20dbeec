// The rules: published beside applied, and everything one can do to them.

import { MOST_ITEMS, session } from "../core/client.js";
import { arrange, button, byId, element, setText } from "../core/dom.js";
import { figure } from "../core/format.js";
import { total } from "../core/pipeline_health.js";
import { feeds, isApplied } from "../core/pipeline.js";
import { fits } from "../core/purposes.js";
import { PurposeFilters } from "../parts/purpose_filters.js";
import { changeRule, editRule, explainRule, removeRule, tickTrace, traceRule } from "./rule_acts.js";
import { ruleFacts } from "./rule_facts.js";
import { RulesWorth } from "./rules_worth.js";

const COUNTERS = [
  ["rule_evaluations_total", "judged"],
  ["rule_late_evaluated_total", "of them late"],
  ["rule_reevaluated_total", "judged again"],
  ["rule_late_stored_total", "late and only counted"],
  ["rule_null_groups_total", "without a group"],
  ["rule_duplicates_total", "known before"],
];

export class RulesView {
  /** All are what is below: each has `element`, `open` and `forget()`; `page` shows one rule. */
  constructor(page, backtests, mappings) {
    Object.assign(this, { page, backtests, mappings });
    this.rows = new Map();
    this.list = element("ul", { class: "rules", id: "rule-list" });
    this.empty = element("p", { class: "empty" });
    this.applied = element("p", { class: "muted small" });
    this.filters = new PurposeFilters("rules", () => this.take(feeds.rules));
    this.worth = new RulesWorth(() => feeds.rules.data ?? []);
    this.fresh = button("New rule", () => editRule(null), { kind: "primary", id: "new-rule" });
    this.overview = element(
      "div",
      {},
      element(
        "div",
        { class: "panel-head" },
        element("div", {}, element("h1", {}, "Rules"), this.applied),
        element(
          "div",
          { class: "panel-acts" },
          element("a", { class: "quiet", href: "/rules/backtests", "data-go": true }, "Backtests"),
          this.fresh,
        ),
      ),
      element("div", { class: "filters" }, this.filters.elements),
      this.list,
      this.empty,
      this.worth.element,
    );
    byId("rules").append(
      element(
        "div",
        { class: "panel" },
        this.overview,
        this.page.element,
        this.backtests.element,
        this.mappings.element,
      ),
    );
    feeds.rules.listen((feed) => this.take(feed));
    feeds.engine.listen((feed) => this.count(feed));
  }

  forget() {
    this.rows.clear();
    this.list.replaceChildren();
    setText(this.applied, "");
    this.page.forget();
    this.backtests.forget();
    this.mappings.forget();
    this.filters.forget();
    this.worth.forget();
  }

  open({ id, query }) {
    const isTried = id === "backtests";
    const isMapped = id === "mappings";
    const isRule = id !== null && !isTried && !isMapped;
    this.overview.hidden = id !== null;
    this.backtests.element.hidden = !isTried;
    this.mappings.element.hidden = !isMapped;
    this.page.element.hidden = !isRule;
    if (!isRule) this.page.forget();
    if (isTried) return void this.backtests.open(query);
    if (isMapped) return void this.mappings.open();
    if (id !== null) return void this.page.open(id, query);
    this.fresh.hidden = !session.may("rules:write");
    feeds.rules.hurry();
    return undefined;
  }

  take(feed) {
    this.empty.hidden = Boolean(feed.data?.length);
    if (feed.data === null) {
      return void setText(
        this.empty,
        feed.state === "waiting"
          ? "Asking the registry\u2026"
          : `The rules cannot be read now: the registry ${feed.trouble}.`,
      );
    }
    const filter = this.filters.read();
    const shownRules = feed.data.filter((rule) => fits(rule.purpose, filter));
    this.empty.hidden = shownRules.length > 0;
    setText(
      this.empty,
      feed.data.length
        ? "No rule fits these filters."
        : `There are no rules yet.${
          session.may("rules:write") ? " Write the first one, or begin with a template." : ""
        }`,
    );
    const applied = feed.data.filter(isApplied).length;
    setText(
      this.applied,
      feed.data.length
        ? `${applied} of ${feed.data.length} applied by the engine as published${cut(feed.data)}`
        : "",
    );
    const kept = new Map();
    for (const rule of shownRules) {
      const shown = JSON.stringify([rule, session.may("rules:write")]);
      const old = this.rows.get(rule.ruleId);
      kept.set(rule.ruleId, old?.shown === shown ? old : { shown, ...this.row(rule) });
    }
    this.rows = kept;
    arrange(this.list, [...kept.values()].map((row) => row.element));
    this.count(feeds.engine);
    return undefined;
  }

  row(rule) {
    const may = session.may("rules:write");
    const does = (text, act) => may ? button(text, act, { "aria-label": `${text}: ${rule.name}` }) : null;
    const counted = element("span", { class: "muted small" });
    return {
      counted,
      element: element(
        "li",
        { class: "rule", dataset: { ruleId: rule.ruleId } },
        ruleFacts(rule, counted),
        element(
          "div",
          { class: "rule-acts" },
          does("Edit", () => editRule(rule)),
          rule.state === "PAUSED"
            ? does("Resume", () => changeRule(rule, "resume"))
            : does("Pause", () => changeRule(rule, "pause")),
          does("Purpose", () => explainRule(rule)),
          button("Trace", () => traceRule(rule), { "aria-label": `Trace: ${rule.name}` }),
          element("a", {
            class: "quiet",
            href: `/alerts?ruleId=${rule.ruleId}`,
            "data-go": true,
            "aria-label": `Alerts: ${rule.name}`,
          }, "Alerts"),
          does("Delete", () => removeRule(rule)),
        ),
      ),
    };
  }

  /** What the engine counted for each rule since it started. */
  count(feed) {
    if (feed.state !== "good") return;
    for (const [ruleId, row] of this.rows) {
      const said = COUNTERS.map((
        [name, text],
      ) => [total(feed.data, name, (labels) => labels.rule === String(ruleId)), text])
        .filter(([count]) => count > 0).map(([count, text]) => `${figure(count)} ${text}`);
      setText(row.counted, said.join(", "));
    }
  }

  tick(now) {
    tickTrace(now);
    this.page.tick(now);
    this.backtests.tick(now);
  }
}

function cut(rules) {
  return rules.length < MOST_ITEMS ? "" : `. Here are ${MOST_ITEMS} at the most; rules-registry list has all`;
}
