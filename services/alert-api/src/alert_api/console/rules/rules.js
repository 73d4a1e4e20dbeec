// The rules: published beside applied, and everything one can do to them.

import { tell } from "../core/approval.js";
import { Problem, registry, session } from "../core/client.js";
import { confirm } from "../core/confirm.js";
import { arrange, button, byId, element, setText, toast } from "../core/dom.js";
import { figure } from "../core/format.js";
import { total } from "../core/pipeline_health.js";
import { feeds, isApplied } from "../core/pipeline.js";
import { fits } from "../core/purposes.js";
import { PurposeFilters } from "../parts/purpose_filters.js";
import { PurposeForm } from "./purpose_form.js";
import { ruleFacts } from "./rule_facts.js";
import { RuleForm } from "./rule_form.js";
import { RuleTrace } from "./rule_trace.js";
import { ruleVersions } from "./rule_versions.js";

const COUNTERS = [
  ["rule_evaluations_total", "judged"],
  ["rule_late_evaluated_total", "of them late"],
  ["rule_reevaluated_total", "judged again"],
  ["rule_late_stored_total", "late and only counted"],
  ["rule_null_groups_total", "without a group"],
  ["rule_duplicates_total", "duplicates"],
];

export class RulesView {
  constructor() {
    this.rows = new Map();
    this.trace = null;
    this.list = element("ul", { class: "rules", id: "rule-list" });
    this.empty = element("p", { class: "empty" });
    this.applied = element("p", { class: "muted small" });
    this.filters = new PurposeFilters("rules", () => this.take(feeds.rules));
    this.fresh = button("New rule", () => this.edit(null), { kind: "primary", id: "new-rule" });
    byId("rules").append(
      element(
        "div",
        { class: "panel" },
        element(
          "div",
          { class: "panel-head" },
          element("div", {}, element("h1", {}, "Rules"), this.applied),
          this.fresh,
        ),
        element("div", { class: "filters" }, this.filters.elements),
        this.list,
        this.empty,
      ),
    );
    byId("rule-dialog-close").addEventListener("click", () => byId("rule-dialog").close());
    feeds.rules.listen((feed) => this.take(feed));
    feeds.engine.listen((feed) => this.count(feed));
  }

  forget() {
    this.rows.clear();
    this.list.replaceChildren();
    setText(this.applied, "");
  }

  open() {
    const may = session.may("rules:write");
    this.fresh.disabled = !may;
    this.fresh.title = may ? "" : "Your key may look at rules, but not change them";
    feeds.rules.hurry();
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
        : "There are no rules yet. Write the first one, or begin with a template.",
    );
    const applied = feed.data.filter(isApplied).length;
    setText(
      this.applied,
      feed.data.length ? `${applied} of ${feed.data.length} applied by the engine as published` : "",
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
    const does = (text, act) => button(text, act, { disabled: !may, "aria-label": `${text}: ${rule.name}` });
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
          does("Edit", () => this.edit(rule)),
          rule.state === "PAUSED"
            ? does("Resume", () => this.change(rule, "resume"))
            : does("Pause", () => this.change(rule, "pause")),
          does("Purpose", () => this.explain(rule)),
          button("Trace", () => this.follow(rule), { "aria-label": `Trace: ${rule.name}` }),
          button("Versions", () => this.show(`Versions of \u201c${rule.name}\u201d`, ruleVersions(rule)), {
            "aria-label": `Versions: ${rule.name}`,
          }),
          does("Delete", () => this.remove(rule)),
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

  edit(rule) {
    const form = new RuleForm(rule, () => {
      byId("rule-dialog").close();
      feeds.rules.hurry();
    });
    this.show(rule ? `Change \u201c${rule.name}\u201d` : "New rule", form.element);
    form.name.focus();
  }

  explain(rule) {
    const form = new PurposeForm(rule, () => {
      byId("rule-dialog").close();
      feeds.rules.hurry();
    });
    this.show(`What \u201c${rule.name}\u201d is for`, form.element);
  }

  follow(rule) {
    this.trace = new RuleTrace(rule);
    this.show(`Trace of \u201c${rule.name}\u201d`, this.trace.element);
  }

  tick(now) {
    if (this.trace?.element.isConnected && byId("rule-dialog").open && !document.hidden) this.trace.tick(now);
  }

  show(title, content) {
    setText(byId("rule-dialog-title"), title);
    byId("rule-dialog-body").replaceChildren(content);
    byId("rule-dialog").showModal();
    byId("rule-dialog").scrollTop = 0;
  }

  async change(rule, verb) {
    try {
      const answer = await registry(`/rules/${rule.ruleId}/${verb}`, {
        method: "POST",
        version: rule.version,
      });
      tell(answer, verb === "pause" ? "Paused. It keeps its history." : "Resumed.");
    } catch (error) {
      toast(refusal(error));
    }
    feeds.rules.hurry();
  }

  remove(rule) {
    confirm({
      title: `Delete \u201c${rule.name}\u201d?`,
      what: "It judges nothing from then on, and its id is never used again. Its alerts stay.",
      go: "Delete the rule",
      danger: true,
      act: async () => {
        try {
          tell(
            await registry(`/rules/${rule.ruleId}`, { method: "DELETE", version: rule.version }),
            "Deleted.",
          );
        } catch (error) {
          throw error instanceof Problem ? new Error(refusal(error)) : error;
        }
        feeds.rules.hurry();
      },
    });
  }
}

function refusal(error) {
  if (error instanceof Problem && error.status === 412) {
    return "Somebody else changed this rule meanwhile. Look at it, and try again.";
  }
  return error.message;
}
