// Backtests, newest first; or one of them, where the address names it.

import { registry, session, SignedOut } from "../core/client.js";
import { arrange, button, element, setText } from "../core/dom.js";
import { ago } from "../core/format.js";
import { isOpen, spanOf, standing, titleOf } from "../words/backtest_words.js";
import { BacktestPage } from "./backtest_page.js";

const AGAIN_MS = 3000;
const SHOWN = 20;

export class Backtests {
  constructor() {
    this.list = element("ul", { class: "rules", id: "backtest-list", "aria-label": "Backtests" });
    this.empty = element("p", { class: "empty" });
    this.error = element("p", { class: "error", role: "alert" });
    this.older = button("Show older backtests", () => this.readOlder(), {
      class: "quiet wide",
      hidden: true,
    });
    this.overview = element(
      "div",
      {},
      element("a", { class: "back", href: "/rules", "data-go": true }, "\u2190 All rules"),
      element("h1", {}, "Backtests"),
      element(
        "p",
        { class: "muted" },
        "Which alerts a rule would have given, had it been in force. Ask for one in the form of a rule: \u201cWhat would it have given?\u201d",
      ),
      element(
        "p",
        { class: "muted backtest-intro" },
        "Over a file of yours the engine\u2019s command tries rules: ",
        element("a", { href: "/rules/mappings", "data-go": true }, "a mapping for a file"),
        " says which columns are which fields.",
      ),
      this.error,
      this.list,
      this.empty,
      this.older,
    );
    this.element = element("article", { class: "backtests", hidden: true }, this.overview);
    this.forget();
  }

  forget() {
    this.page?.element.remove();
    Object.assign(this, { page: null, items: new Map(), next: null, readAt: 0, paged: false, turn: null });
    this.list.replaceChildren();
    for (const node of [this.empty, this.error]) setText(node, "");
  }

  open(query) {
    const id = query.get("backtest");
    this.overview.hidden = id !== null;
    if (this.page && this.page.backtestId !== id) {
      this.page.element.remove();
      this.page = null;
    }
    if (id === null) return void this.read();
    if (this.page === null) {
      this.page = new BacktestPage(/^\d{1,10}$/.test(id) ? id : "0");
      this.page.backtestId = id;
      this.element.append(this.page.element);
      this.page.read();
    }
    return undefined;
  }

  tick(now) {
    if (this.element.hidden || this.element.closest("[hidden]") || document.hidden) return;
    if (this.page) this.page.tick(now);
    else if (!this.paged && now - this.readAt >= AGAIN_MS) this.read();
  }

  read() {
    this.paged = false;
    return this.take(`/backtests?limit=${SHOWN}`, []);
  }

  readOlder() {
    this.paged = true;
    return this.take(this.next, [...this.items.values()]);
  }

  async take(path, before) {
    const turn = {};
    Object.assign(this, { readAt: Date.now(), turn });
    try {
      const { body, next } = await registry(path);
      if (turn !== this.turn) return;
      this.next = next && `/backtests${new URL(next, location.origin).search}`;
      setText(this.error, "");
      this.render([...before, ...body.items.map((backtest) => this.row(backtest))]);
    } catch (error) {
      if (turn !== this.turn || error instanceof SignedOut) return;
      setText(this.error, `Backtests cannot be read now: ${error.message}`);
    }
  }

  /** What is the same is left alone: a focus would be lost. */
  row(backtest) {
    const shown = JSON.stringify(backtest);
    const old = this.items.get(backtest.backtestId);
    return old?.shown === shown
      ? old
      : { shown, id: backtest.backtestId, element: row(backtest, () => this.read()) };
  }

  render(rows) {
    this.items = new Map(rows.map((one) => [one.id, one]));
    arrange(this.list, rows.map((one) => one.element));
    this.older.hidden = !this.next;
    this.empty.hidden = rows.length > 0;
    setText(this.empty, rows.length ? "" : "Nothing has been tried yet.");
  }
}

function row(backtest, onDone) {
  const { backtestId } = backtest;
  const cancel = () => registry(`/backtests/${backtestId}/cancel`, { method: "POST" }).then(onDone, onDone);
  return element(
    "li",
    { class: "rule backtest-row", dataset: { state: backtest.state } },
    element(
      "div",
      {},
      element(
        "a",
        { class: "backtest-name", href: `/rules/backtests?backtest=${backtestId}`, "data-go": true },
        titleOf(backtest),
      ),
      element("p", { class: "muted small" }, spanOf(backtest)),
      element("p", { class: "small" }, standing(backtest)),
      element(
        "p",
        { class: "muted small" },
        `${backtest.requestedBy}, ${ago(backtest.requestedAt, Date.now())}`,
      ),
    ),
    isOpen(backtest) && session.may("rules:write")
      ? element("div", { class: "rule-acts" }, button("Cancel", cancel))
      : null,
  );
}
