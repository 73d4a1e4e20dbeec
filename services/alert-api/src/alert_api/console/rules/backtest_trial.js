// In the form of a rule: the draft tried over recorded history, before it is published.

import { registry } from "../core/client.js";
import { button, choice, element, labelled, setText } from "../core/dom.js";
import { figure } from "../core/format.js";
import { sweepCharts } from "../parts/sweep_chart.js";
import { isOpen, outcome, overlap, share, standing } from "../words/backtest_words.js";

const DAY_MS = 86_400_000;
const AGAIN_MS = 1000;
const KNOWLEDGE = [["as-it-was", "what was known then"], ["today", "what is known today"]];
const SPANS = [["1", "the last day"], ["7", "the last 7 days"], ["30", "the last 30 days"], [
  "90",
  "the last 90 days",
]];

export class BacktestTrial {
  /**
   * `read()` gives the body of the draft, or null where something is wrong with it, which it then says;
   * `take(member, value)` puts a limit or a window that was tried into it.
   */
  constructor(read, ruleId, take) {
    Object.assign(this, { read, ruleId, take, backtest: null });
    this.days = choice(SPANS, { id: "backtest-days" });
    this.days.value = "7";
    this.knowledge = choice(KNOWLEDGE, { id: "backtest-knowledge" });
    this.limits = several("backtest-limits", "500, 1000, 2000");
    this.windows = several("backtest-windows", "60, 600, 3600");
    this.go = button("Try it", () => this.start(), { id: "backtest-go" });
    this.stop = button("Cancel", () => this.cancel(), { hidden: true });
    this.bar = element("progress", { max: 100, value: 0, "aria-label": "Backtest", hidden: true });
    this.said = element("p", { class: "backtest-said", role: "status" });
    this.sweeps = element("div", { class: "backtest-sweeps" });
    this.link = element("a", { target: "_blank", rel: "noopener", hidden: true }, "See all of it");
    this.element = element(
      "fieldset",
      { class: "group backtest-trial", on: { input: keep, change: keep } },
      element("legend", {}, "What would it have given?"),
      element(
        "div",
        { class: "backtest-ask" },
        labelled("Over", this.days),
        labelled("Knowing", this.knowledge),
        labelled("Try these beside it (may be left open)", this.limits),
        labelled("Try these windows, in seconds (may be left open)", this.windows),
        this.go,
        this.stop,
      ),
      this.bar,
      this.said,
      this.sweeps,
      this.link,
    );
  }

  async start() {
    const rule = this.read();
    if (rule === null) return;
    const to = Date.now();
    const from = to - Number(this.days.value) * DAY_MS;
    const span = { from, to, knowledge: this.knowledge.value };
    const beside = this.ruleId === null ? {} : { beside: this.ruleId };
    const [limits, windows] = [this.limits, this.windows].map(parts);
    const others = {
      ...(limits.length ? { limits } : {}),
      ...(windows.length ? { windows: windows.map(Number) } : {}),
    };
    this.go.disabled = true;
    try {
      const { body } = await registry("/backtests", {
        method: "POST",
        body: { ...span, rule, ...beside, ...others },
      });
      this.show(body);
      this.follow();
    } catch (error) {
      this.explain(error);
    }
  }

  async cancel() {
    try {
      this.show((await registry(`/backtests/${this.backtest.backtestId}/cancel`, { method: "POST" })).body);
    } catch (error) {
      this.explain(error);
    }
  }

  follow() {
    setTimeout(() => this.look(), AGAIN_MS);
  }

  /** Until it has ended, or nobody looks any more: the backtest itself goes on. */
  async look() {
    if (!this.element.isConnected) return;
    try {
      this.show((await registry(`/backtests/${this.backtest.backtestId}`)).body);
    } catch (error) {
      return void this.explain(error);
    }
    if (isOpen(this.backtest)) this.follow();
  }

  show(backtest) {
    this.backtest = backtest;
    const open = isOpen(backtest);
    this.go.disabled = open;
    this.stop.hidden = !open;
    this.bar.hidden = !open;
    this.bar.value = backtest.progress.percent;
    this.link.hidden = false;
    this.link.href = `/rules/backtests?backtest=${backtest.backtestId}`;
    const sweeps = backtest.result === null ? [] : sweepCharts(backtest, this.take);
    // once it is there it stays: somebody may be about to take something
    if (this.sweeps.childElementCount !== sweeps.length) this.sweeps.replaceChildren(...sweeps);
    setText(this.said, backtest.result === null ? `It ${standing(backtest)}.` : resultText(backtest, sweeps));
  }

  explain(error) {
    this.go.disabled = false;
    const wrong = (error.body?.errors ?? []).map(({ field, message }) => `${field}: ${message}`);
    setText(this.said, [error.message, ...wrong].join(" "));
  }
}

function several(id, placeholder) {
  return element("input", { id, autocomplete: "off", inputmode: "decimal", placeholder });
}

function parts(input) {
  return input.value.split(/[,\s]+/).filter(Boolean);
}

/** The same draft with other limits or windows. */
function others({ rules, result }) {
  const names = new Map(rules.map(({ triedId, name }) => [triedId, name]));
  return result.rules.slice(1).map(({ triedId, alerts }) => ({ name: names.get(triedId), alerts }));
}

/** The span is none of the rule's: what was said about that stays. */
function keep(event) {
  event.stopPropagation();
}

/** With a sentence for each of the others where no curve shows them. */
function resultText(backtest, sweeps) {
  const [rule] = backtest.result.rules;
  const { labelled } = rule;
  const decided = labelled.fraud + labelled.falsePositives;
  const sentences = [outcome(backtest, rule), overlap(rule)];
  if (decided) {
    sentences.push(
      `Of what was decided: precision ${share(labelled.precision)}, recall ${share(labelled.recall)}`,
    );
  }
  const untold = sweeps.length ? [] : others(backtest);
  for (const { name, alerts } of untold) sentences.push(`${name}: ${figure(alerts)} alerts`);
  return `${sentences.filter(Boolean).join(". ")}.`;
}
