// The rules with a lamp each: it lights up when the rule fires.

import { Arrivals } from "./arrivals.js";
import { arrange, element, setText } from "../core/dom.js";
import { ago } from "../core/format.js";
import { feeds, isApplied } from "../core/pipeline.js";

const GLOW_MS = 2500;
const MINUTE = 60_000;

export class Lamps {
  constructor() {
    this.rows = new Map();
    this.fired = new Map();
    this.list = element("ul", { class: "lamps" });
    this.empty = element(
      "p",
      { class: "empty" },
      "There are no rules yet. ",
      element("a", { href: "/rules", "data-go": true }, "Write the first one"),
      ".",
    );
    this.element = element(
      "section",
      { class: "panel", "aria-label": "Rules that fire" },
      element(
        "div",
        { class: "panel-head" },
        element("h2", {}, "Rules"),
        element("a", { href: "/rules", "data-go": true }, "Manage rules"),
      ),
      this.list,
      this.empty,
    );
    feeds.rules.listen((feed) => this.take(feed));
  }

  forget() {
    this.rows.clear();
    this.fired.clear();
    arrange(this.list, []);
  }

  fire(alert, now) {
    if (!this.fired.has(alert.ruleId)) this.fired.set(alert.ruleId, new Arrivals());
    this.fired.get(alert.ruleId).add(now);
    const row = this.rows.get(alert.ruleId);
    if (!row) return;
    row.litAt = now;
    if (row.element.dataset.lit === "true") return;
    row.element.dataset.lit = "true";
    this.say(alert.ruleId, row, now);
  }

  take(feed) {
    if (!feed.data) return;
    const kept = new Map(feed.data.map((rule) => [rule.ruleId, this.rowOf(rule)]));
    this.rows = kept;
    arrange(this.list, [...kept.values()].map((row) => row.element));
    this.empty.hidden = kept.size > 0;
    this.tick(Date.now());
  }

  rowOf(rule) {
    const row = this.rows.get(rule.ruleId) ?? build(rule);
    setText(row.name, rule.name);
    row.name.setAttribute("href", `/alerts?ruleId=${rule.ruleId}`);
    row.element.dataset.state = rule.state === "PAUSED"
      ? "paused"
      : isApplied(rule)
      ? "applied"
      : "published";
    return row;
  }

  tick(now) {
    for (const [ruleId, row] of this.rows) {
      if (row.litAt && now - row.litAt > GLOW_MS) row.element.dataset.lit = "false";
      this.say(ruleId, row, now);
    }
  }

  say(ruleId, row, now) {
    const count = this.fired.get(ruleId)?.count(now - MINUTE) ?? 0;
    const state = { paused: "paused", published: "not applied yet" }[row.element.dataset.state];
    setText(
      row.count,
      count ? `${count} in a minute` : state ?? (row.litAt ? `fired ${ago(row.litAt, now)}` : "quiet"),
    );
  }
}

function build() {
  const name = element("a", { class: "lamp-name", "data-go": true });
  const count = element("span", { class: "muted small" });
  return {
    name,
    count,
    litAt: null,
    element: element(
      "li",
      { class: "lamp", dataset: { lit: "false" } },
      element("span", { class: "bulb", "aria-hidden": "true" }),
      name,
      count,
    ),
  };
}
