// What one rule is worth: its alerts of the last 30 days and what became of the cases that they were in, by version.

import { call } from "../core/client.js";
import { element } from "../core/dom.js";
import { performanceTable } from "../parts/performance_table.js";

const AGAIN_MS = 30_000;

export class RuleWorth {
  constructor(ruleId) {
    Object.assign(this, { ruleId, shown: null, readAt: 0 });
    this.table = element("div");
    this.said = element("p", { class: "muted" }, "Asking\u2026");
    this.element = element(
      "section",
      { class: "rule-worth" },
      element("h2", {}, "What it is worth"),
      this.said,
      this.table,
    );
  }

  /** A rule that is not published has raised nothing. It is asked less often than the rest of the page. */
  async take(rule, now = Date.now()) {
    this.element.hidden = rule === null;
    if (rule === null || now - this.readAt < AGAIN_MS) return;
    this.readAt = now;
    try {
      this.show((await call(`/v1/rules/${this.ruleId}/performance`)).body);
    } catch (error) {
      this.said.textContent = `It cannot be read now: ${error.message}`;
    }
  }

  show(body) {
    this.said.textContent = body.items.length
      ? "In the last 30 days: alerts by event time, cases by when they were resolved. Precision is the share of fraud " +
        "among what was decided as fraud or as a false positive, with its 95 % interval."
      : "It has raised no alert in the last 30 days.";
    const shown = JSON.stringify(body.items);
    if (shown === this.shown) return;
    this.shown = shown;
    this.table.replaceChildren(...(body.items.length ? [performanceTable(body.items, false)] : []));
  }
}
