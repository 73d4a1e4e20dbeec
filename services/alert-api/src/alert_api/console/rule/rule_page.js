// Everything about one rule: what it says and is for, how it stands, what waits, what it was before.

import { SignedOut } from "../core/client.js";
import { button, element } from "../core/dom.js";
import { isOpen, readRule } from "./rule_reading.js";
import { RuleAlerts } from "./rule_alerts.js";
import { RuleChanges } from "./rule_changes.js";
import { ruleHead } from "./rule_head.js";
import { RuleHistory } from "./rule_history.js";
import { RuleShadow } from "./rule_shadow.js";
import { RuleStanding } from "./rule_standing.js";
import { RuleWorth } from "./rule_worth.js";

const AGAIN_MS = 3000;

export class RulePage {
  constructor() {
    this.element = element("article", { class: "rule-page", hidden: true });
    this.forget();
  }

  forget() {
    Object.assign(this, { ruleId: null, shown: null, title: null, readAt: 0, turn: null, isFinal: false });
    this.element.replaceChildren();
  }

  open(id, query) {
    const again = () => this.read();
    if (String(this.ruleId) !== id) {
      this.forget();
      this.ruleId = Number(id);
      Object.assign(this, {
        head: element("div"),
        trouble: element("p", { class: "error", role: "alert" }),
        standing: new RuleStanding(this.ruleId),
        changes: new RuleChanges(again),
        history: new RuleHistory(this.ruleId, again),
        alerts: new RuleAlerts(this.ruleId),
        worth: new RuleWorth(this.ruleId),
        shadow: new RuleShadow(this.ruleId, again),
      });
      this.element.append(back(), element("p", { class: "muted" }, "Loading\u2026"));
      this.history.choose(query);
      this.read();
    } else this.history.choose(query);
    this.entitle();
  }

  /** Once a second while the console is open: somebody else may change the rule, and the engine takes it. */
  tick(now) {
    if (this.ruleId === null || this.element.closest("[hidden]") || document.hidden) return;
    if (this.turn === null && !this.isFinal && now - this.readAt >= AGAIN_MS) this.read();
  }

  async read() {
    const { ruleId } = this;
    const turn = {};
    Object.assign(this, { readAt: Date.now(), turn });
    try {
      const reading = await readRule(ruleId);
      // What was asked for later is newer, whichever answer comes first.
      if (turn !== this.turn) return;
      this.trouble.textContent = "";
      this.show(reading);
    } catch (error) {
      if (turn === this.turn && !(error instanceof SignedOut)) this.explain(error);
    } finally {
      if (turn === this.turn) this.turn = null;
    }
  }

  /** What was read before stays, with a word that it may be old. */
  explain(error) {
    const text = `It cannot be read now: ${error.message}`;
    if (this.shown) return void (this.trouble.textContent = text);
    this.element.replaceChildren(
      back(),
      element("p", { class: "error" }, text),
      button("Try again", () => this.read()),
    );
    return undefined;
  }

  show(reading) {
    const { rule, changes } = reading;
    if (rule === null && changes.length === 0) return this.unknown();
    // What is retired, or was given up before it was published, stays as it is.
    this.isFinal = rule === null ? !changes.some(isOpen) : Boolean(rule.versions);
    if (!this.shown) this.build();
    const head = ruleHead(this.ruleId, reading, () => this.read());
    // What is the same is left alone: a focus would be lost.
    if (this.shown !== head.shown) this.head.replaceChildren(...head.make());
    this.shown = head.shown;
    this.title = `${head.title} \u2013 Tripline`;
    this.entitle();
    this.standing.take(rule, changes);
    this.changes.take(changes);
    this.history.take(reading);
    this.alerts.take(rule);
    this.worth.take(rule);
    this.shadow.take(rule);
    return undefined;
  }

  /** The window is named after the rule, as long as it shows it. */
  entitle() {
    if (this.title && !this.element.closest("[hidden]")) document.title = this.title;
  }

  build() {
    const { head, trouble, standing, changes, history, alerts, worth, shadow } = this;
    this.element.replaceChildren(
      back(),
      head,
      trouble,
      changes.element,
      shadow.element,
      element("div", { class: "rule-columns" }, standing.element, alerts.element),
      worth.element,
      history.element,
    );
  }

  unknown() {
    this.shown = null;
    this.isFinal = true;
    this.element.replaceChildren(
      back(),
      element("h1", {}, `Rule ${this.ruleId}`),
      element("p", { class: "empty" }, `There is no rule ${this.ruleId}.`),
    );
  }
}

function back() {
  return element("a", { class: "back", href: "/rules", "data-go": true }, "\u2190 All rules");
}
