// How each part of the line is: last seen, what waits, the rules as published beside as applied, and what to do.

import { arrange, byId, element, setText, tableHead } from "../core/dom.js";
import { ago, counted, fullTime } from "../core/format.js";
import { feeds, isApplied } from "../core/pipeline.js";
import { here } from "../core/router.js";

const LEVELS = {
  good: ["fine", "good"],
  behind: ["behind", "warn"],
  wrong: ["wrong", "alarm"],
  away: ["away", "alarm"],
  not_seen: ["not seen", ""],
};

export class HealthView {
  constructor() {
    this.said = element("p", { class: "health-said", role: "status" });
    this.list = element("ul", { class: "parts", "aria-label": "Parts of the line" });
    this.rules = element("div");
    byId("health").append(
      element(
        "div",
        { class: "stack" },
        element(
          "section",
          { class: "panel", "aria-label": "Parts of the line" },
          element("a", { class: "back", href: "/live", "data-go": true }, "\u2190 Live"),
          element("div", { class: "panel-head" }, element("h1", {}, "Health")),
          this.said,
          this.list,
        ),
        element(
          "section",
          { class: "panel", "aria-label": "Rules, published beside applied" },
          element("div", { class: "panel-head" }, element("h2", {}, "Rules, published beside applied")),
          this.rules,
        ),
      ),
    );
    this.forget();
    feeds.health.listen((feed) => this.take(feed));
    feeds.rules.listen(() => this.showRules());
  }

  forget() {
    this.rows = new Map();
    this.line = null;
    this.shownRules = null;
    arrange(this.list, []);
    this.rules.replaceChildren();
    setText(this.said, "Asking all parts\u2026");
  }

  open() {
    feeds.health.hurry();
    this.showRules();
  }

  take(feed) {
    if (feed.state !== "good") {
      this.stale = `The alert API cannot say how the line is: it ${feed.trouble}.`;
      return void setText(this.said, this.stale);
    }
    this.line = feed.data;
    const kept = new Map(
      this.line.items.map((part) => [part.part, this.rows.get(part.part) ?? new PartRow(part.title)]),
    );
    for (const part of this.line.items) kept.get(part.part).show(part, this.line);
    this.rows = kept;
    arrange(this.list, [...kept.values()].map((row) => row.element));
    setText(this.said, summary(this.line.items));
    this.showRules();
    return undefined;
  }

  /** Drawn anew only where something is different. */
  showRules() {
    if (here().view !== "health") return;
    const engine = this.line?.items.find((part) => part.part === "engine");
    const rules = feeds.rules.data;
    const shown = JSON.stringify([this.line?.published, engine?.shards, rules]);
    if (shown === this.shownRules) return;
    this.shownRules = shown;
    this.rules.replaceChildren(...[
      this.line &&
      element("p", { class: "muted" }, positions(this.line.published, engine?.shards ?? [])),
      ...versions(rules),
    ].filter(Boolean));
  }

  tick(now) {
    if (here().view !== "health") return;
    for (const row of this.rows.values()) row.tick(now);
  }
}

function summary(parts) {
  const count = (level) => parts.filter((part) => part.level === level).length;
  const troubled = parts.length - count("good") - count("not_seen");
  const unseen = count("not_seen") ? ` Of ${counted(count("not_seen"), "part")} nothing is known.` : "";
  return (troubled === 0
    ? "Every part that is seen is fine."
    : `${counted(troubled, "part")} of ${parts.length} ${troubled === 1 ? "needs" : "need"} a look.`) +
    unseen;
}

/** One part: its row keeps its element, so a reader and a selection are left alone. */
class PartRow {
  constructor(title) {
    this.level = element("span", { class: "tag" });
    this.seen = element("span");
    this.facts = element("p", { class: "muted small" }, this.seen);
    this.waiting = element("span");
    this.facts.append(this.waiting);
    this.trouble = element("p");
    this.advice = element("p", { class: "muted" });
    this.element = element(
      "li",
      { class: "part" },
      element("div", { class: "part-name" }, element("b", {}, title), this.level),
      element("div", { class: "part-said" }, this.trouble, this.advice, this.facts),
    );
  }

  show(part, { published }) {
    this.part = part;
    const [word, colour] = LEVELS[part.level];
    this.element.dataset.level = part.level;
    this.level.className = `tag ${colour}`;
    setText(this.level, word);
    setText(this.trouble, part.trouble?.sentence ?? "");
    this.trouble.hidden = part.trouble === null;
    setText(
      this.advice,
      part.trouble ? `${part.trouble.advice} Runbook: ${part.trouble.section}.` : "",
    );
    this.advice.hidden = part.trouble === null;
    setText(this.waiting, waiting(part, published));
    this.tick(Date.now());
  }

  tick(now) {
    const { seenAt } = this.part;
    setText(this.seen, seenAt === null ? "Never seen" : `Seen ${ago(seenAt, now)}`);
    this.seen.title = seenAt === null ? "" : fullTime(seenAt);
  }
}

function waiting({ part, lag, position }, published) {
  const what = part === "relay" ? "change of rules" : "record";
  const several = part === "relay" ? "changes of rules" : "records";
  return [
    lag === null
      ? ""
      : lag === 0
      ? "nothing waits"
      : `${counted(lag.toLocaleString("en"), what, several)} waiting`,
    position === null
      ? ""
      : `rules up to position ${position}${published === null ? "" : ` of ${published}`}`,
  ].filter(Boolean).map((text) => ` \u00b7 ${text}`).join("");
}

function positions(published, shards) {
  if (published === null) return "The relay, which knows the newest position of the rule log, is not seen.";
  if (!shards.length) {
    return `The log of rules is at position ${published}; what the engine has applied is not known.`;
  }
  const applied = shards.map(({ shard, position }) => `shard ${shard}: ${position}`).join(", ");
  return `The log of rules is at position ${published}. The engine has applied, by ${applied}.`;
}

function everyRule(count) {
  if (count === 0) return "There are no rules.";
  return count === 1
    ? "The one rule is applied as it is published."
    : `All ${count} rules are applied as they are published.`;
}

/** The rules whose newest version the engine has not taken, as a table. */
function versions(rules) {
  if (rules === null) return [element("p", { class: "muted" }, "The rules have not been read.")];
  const waiting = rules.filter((rule) => !isApplied(rule));
  const told = element(
    "p",
    {},
    waiting.length === 0
      ? everyRule(rules.length)
      : `${waiting.length} of ${counted(rules.length, "rule")} ${
        waiting.length === 1 ? "is" : "are"
      } not applied as published:`,
  );
  if (!waiting.length) return [told];
  return [
    told,
    element(
      "div",
      { class: "table", tabindex: 0, role: "region", "aria-label": "Rules that are not applied" },
      element(
        "table",
        {},
        tableHead(["Rule", "Published", "Applied"]),
        element(
          "tbody",
          {},
          waiting.slice(0, 100).map((rule) =>
            element(
              "tr",
              {},
              element(
                "td",
                {},
                element("a", { href: `/rules/${rule.ruleId}`, "data-go": true }, rule.name),
              ),
              element("td", {}, `version ${rule.version}`),
              element(
                "td",
                {},
                rule.status?.appliedVersion ? `version ${rule.status.appliedVersion}` : "none",
              ),
            )
          ),
        ),
      ),
    ),
    waiting.length > 100 && element("p", { class: "muted small" }, "A hundred of them are shown."),
  ].filter(Boolean);
}
