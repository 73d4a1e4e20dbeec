// What all rules are worth, for who opens it: a table, the rules that never fired, and the same as a file.

import { call } from "../core/client.js";
import { button, element, setText } from "../core/dom.js";
import { save } from "../core/download.js";
import { counted } from "../core/format.js";
import { performanceTable } from "../parts/performance_table.js";

export class RulesWorth {
  /** `rules()` are those that there are. */
  constructor(rules) {
    this.rules = rules;
    this.said = element("p", { class: "muted", role: "status" });
    this.silent = element("p", { class: "small" });
    this.table = element("div");
    this.file = button("Download as CSV", () => this.download());
    this.element = element(
      "details",
      { class: "rules-worth", on: { toggle: () => this.element.open && this.read() } },
      element("summary", {}, "What the rules are worth"),
      this.said,
      this.table,
      this.silent,
      element("p", { class: "actions" }, this.file),
    );
  }

  forget() {
    this.element.open = false;
    this.table.replaceChildren();
    setText(this.silent, "");
  }

  async read() {
    setText(this.said, "Asking\u2026");
    try {
      const { items } = (await call("/v1/rule-performance")).body;
      const seen = new Set(items.filter((row) => row.alerts > 0).map((row) => row.ruleId));
      const never = this.rules().filter((rule) => !seen.has(rule.ruleId));
      setText(
        this.said,
        items.length ? "In the last 30 days." : "No rule has raised an alert in the last 30 days.",
      );
      setText(
        this.silent,
        never.length
          ? `${counted(never.length, "rule")} never fired: ${never.map((rule) => rule.name).join(", ")}.`
          : "",
      );
      this.table.replaceChildren(...(items.length ? [performanceTable(items, true)] : []));
    } catch (error) {
      setText(this.said, `It cannot be read now: ${error.message}`);
    }
  }

  async download() {
    try {
      await save("/v1/rule-performance/export", "rule-performance.csv");
    } catch (error) {
      setText(this.said, `It cannot be read now: ${error.message}`);
    }
  }
}
