// Rolling a shadow out: to how many of a hundred groups, said in words before it is asked for.

import { tell } from "../core/approval.js";
import { Problem, registry } from "../core/client.js";
import { element, form, labelled, setText } from "../core/dom.js";

const STALE = "Somebody else changed this rule meanwhile. Close, look at it, and try again.";
const MOST = 99;
const FIRST = 5;

export class RolloutForm {
  /** `onDone()` is called once it is rolled out, or asked for. */
  constructor(rule, onDone) {
    Object.assign(this, { rule, onDone, least: rule.shadow.percent + 1 });
    this.percent = element("input", {
      id: "rollout-percent",
      type: "number",
      min: this.least,
      max: MOST,
      step: 1,
      required: true,
      on: { input: () => this.follow() },
    });
    this.percent.value = Math.min(MOST, Math.max(FIRST, 2 * rule.shadow.percent));
    this.reason = element("input", { id: "rollout-reason", maxlength: 500, autocomplete: "off" });
    this.meaning = element("p", { class: "muted", role: "status" });
    this.error = element("p", { class: "error", role: "alert" });
    this.go = element("button", { class: "primary", type: "submit" });
    const bounds = `A whole number from ${this.least} to ${MOST}.${
      this.least > 1 ? " Fewer than now it cannot be: end the shadow instead." : ""
    }`;
    this.element = form(
      () => this.send(),
      { class: "rule-form" },
      labelled("Percent of groups", this.percent, bounds),
      this.meaning,
      labelled(
        "Reason",
        this.reason,
        "It stands in the history and in the audit trail, and may be left open.",
      ),
      this.error,
      element("div", { class: "dialog-end" }, this.go),
    );
    this.follow();
  }

  read() {
    const percent = Number(this.percent.value);
    return Number.isInteger(percent) && percent >= this.least && percent <= MOST ? percent : null;
  }

  follow() {
    const { shadow, definitionVersion: active } = this.rule;
    const percent = this.read();
    this.go.disabled = percent === null;
    setText(this.go, percent === null ? "Roll out" : `Roll out to ${percent} %`);
    setText(
      this.meaning,
      percent === null
        ? ""
        : `For about ${percent} of 100 groups the alerts of version ${shadow.version} count, and those of ` +
          `version ${active} do not. For all others it stays as it is. Which groups these are follows from a ` +
          "hash of the group; a wider share keeps them all.",
    );
  }

  async send() {
    const percent = this.read();
    if (percent === null) return;
    this.go.disabled = true;
    setText(this.error, "");
    const { rule } = this;
    const why = this.reason.value.trim();
    const path = `/rules/${rule.ruleId}/shadow/rollout${why ? `?reason=${encodeURIComponent(why)}` : ""}`;
    try {
      const answer = await registry(path, { method: "POST", body: { percent }, version: rule.version });
      tell(answer, `Rolled out to ${percent} %.`);
      this.onDone();
    } catch (error) {
      setText(this.error, error instanceof Problem && error.status === 412 ? STALE : error.message);
    } finally {
      this.go.disabled = false;
    }
  }
}
