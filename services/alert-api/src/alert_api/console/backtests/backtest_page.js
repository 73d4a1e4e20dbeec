// One backtest: how far it is, then what came of it.

import { registry, session, SignedOut } from "../core/client.js";
import { button, element, setText } from "../core/dom.js";
import { fullTime } from "../core/format.js";
import { isOpen, spanOf, standing, titleOf } from "../words/backtest_words.js";
import { inWords } from "../words/definition.js";
import { resultSections, TriedAlerts } from "./backtest_result.js";

const AGAIN_MS = 1000;

export class BacktestPage {
  constructor(backtestId) {
    Object.assign(this, { backtestId, backtest: null, readAt: 0, busy: false, gone: false });
    this.title = element("h1", {}, `Backtest ${backtestId}`);
    this.span = element("p", { class: "muted" });
    this.stands = element("p", { class: "backtest-standing", role: "status" }, "Loading\u2026");
    this.bar = element("progress", { max: 100, value: 0, "aria-label": "How far it is", hidden: true });
    this.stop = button("Cancel", () => this.cancel(), { hidden: true });
    this.rules = element("div", { class: "backtest-tried" });
    this.error = element("p", { class: "error", role: "alert" });
    this.outcome = element("div");
    this.element = element(
      "div",
      {},
      element("a", { class: "back", href: "/rules/backtests", "data-go": true }, "\u2190 All backtests"),
      element("div", { class: "panel-head" }, element("div", {}, this.title, this.span), this.stop),
      this.stands,
      this.bar,
      this.error,
      this.rules,
      this.outcome,
    );
  }

  tick(now) {
    const waits = !this.gone && (this.backtest === null || isOpen(this.backtest));
    if (waits && !this.busy && now - this.readAt >= AGAIN_MS) this.read();
  }

  read() {
    return this.ask(`/backtests/${this.backtestId}`);
  }

  cancel() {
    return this.ask(`/backtests/${this.backtestId}/cancel`, { method: "POST" });
  }

  async ask(path, options) {
    Object.assign(this, { busy: true, readAt: Date.now() });
    try {
      this.show((await registry(path, options)).body);
      setText(this.error, "");
    } catch (error) {
      if (error instanceof SignedOut) return;
      this.gone = error.status === 404;
      if (this.gone) setText(this.stands, "");
      setText(this.error, this.gone ? error.message : `It cannot be read now: ${error.message}`);
    } finally {
      this.busy = false;
    }
  }

  show(backtest) {
    const isFirst = this.backtest === null;
    const hadResult = Boolean(this.backtest?.result);
    this.backtest = backtest;
    const open = isOpen(backtest);
    this.stop.hidden = !open || backtest.state === "cancelling" || !session.may("rules:write");
    this.bar.hidden = !open;
    this.bar.value = backtest.progress.percent;
    setText(this.stands, `It ${backtest.state === "done" ? "is " : ""}${standing(backtest)}.`);
    this.stands.dataset.state = backtest.state;
    this.stands.hidden = backtest.state === "done";
    if (isFirst) {
      setText(this.title, titleOf(backtest));
      setText(
        this.span,
        `${spanOf(backtest)}. Asked for by ${backtest.requestedBy}, ${fullTime(backtest.requestedAt)}.`,
      );
      this.rules.replaceChildren(
        ...backtest.rules.slice(0, 20).map((rule) => sentence(rule, backtest.rules.length)),
      );
    }
    if (backtest.result && !hadResult) {
      const alerts = new TriedAlerts(backtest);
      this.outcome.replaceChildren(...resultSections(backtest), alerts.element);
    }
  }
}

function sentence(rule, count) {
  const name = count > 1 ? element("b", {}, `${rule.name}: `) : null;
  return element("p", { class: "rule-words" }, name, inWords(rule.definition));
}
