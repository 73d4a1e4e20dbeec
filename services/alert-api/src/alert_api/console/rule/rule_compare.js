// What is different between any two versions of a rule, in words. Which two stands in the address.

import { registry } from "../core/client.js";
import { choice, element } from "../core/dom.js";
import { fullTime } from "../core/format.js";
import { go } from "../core/router.js";
import { diffTable } from "../parts/diff_table.js";
import { differences } from "../words/definition.js";

export class RuleCompare {
  constructor(ruleId) {
    Object.assign(this, { ruleId, asked: { from: null, to: null }, shown: null, versions: new Map() });
    const on = { change: () => this.move() };
    this.from = choice([], { "aria-label": "From version", on });
    this.to = choice([], { "aria-label": "To version", on });
    this.words = element("output", { class: "compared" });
    this.element = element(
      "div",
      { class: "version-compare", hidden: true },
      element("span", {}, "What changed from ", this.from, " to ", this.to),
      this.words,
    );
  }

  /** What the address asks for; it may name versions that have not been read. */
  choose(query) {
    const number = (name) => Number(query.get(name)) || null;
    this.asked = { from: number("from"), to: number("to") };
    this.show();
  }

  take(versions, isRetired) {
    Object.assign(this, { versions, isRetired });
    this.show();
  }

  show() {
    const numbers = [...this.versions.keys()].sort((a, b) => b - a);
    this.element.hidden = numbers.length < 2;
    if (this.element.hidden) return;
    const [to, from] = [this.asked.to ?? numbers[0], this.asked.from ?? numbers[1]];
    offer(this.from, numbers, from);
    offer(this.to, numbers, to);
    const shown = `${from}-${to}`;
    if (shown !== this.shown) this.compare(from, to, this.shown = shown);
  }

  move() {
    const query = new URLSearchParams({ from: this.from.value, to: this.to.value });
    go(`/rules/${this.ruleId}?${query}`, { replace: true });
  }

  async compare(from, to, shown) {
    let said = null;
    try {
      said = this.isRetired ? this.table(from, to) : await this.summary(from, to);
    } catch (error) {
      said = `Cannot be read now: ${error.message}`;
    }
    // Whoever chose again in the meantime sees what was chosen last.
    if (shown === this.shown) this.words.replaceChildren(said);
  }

  /** In the registry's words, which the command line has too. */
  async summary(from, to) {
    return (await registry(`/rules/${this.ruleId}/diff?from=${from}&to=${to}`)).body.summary;
  }

  /** The registry compares standing rules only; of a retired one all versions are here. */
  table(from, to) {
    const [before, after] = [this.versions.get(from), this.versions.get(to)];
    if (!before || !after) return "There is no such version.";
    const changed = differences(before, after, fullTime);
    return changed.length ? diffTable(changed) : "Nothing.";
  }
}

function offer(select, numbers, chosen) {
  const offered = numbers.includes(chosen) ? numbers : [...numbers, chosen];
  const key = offered.join();
  if (select.dataset.offered !== key) {
    select.dataset.offered = key;
    select.replaceChildren(...offered.map((number) => element("option", { value: number }, String(number))));
  }
  select.value = String(chosen);
}
