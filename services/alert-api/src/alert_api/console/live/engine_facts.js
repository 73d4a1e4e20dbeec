// The engine in a few figures.

import { element, setText } from "../core/dom.js";
import { capital, MANY } from "../core/event_type.js";
import { bytes, figure, milliseconds } from "../core/format.js";
import { total } from "../core/pipeline_health.js";
import { feeds } from "../core/pipeline.js";

const FACTS = [
  ["judged", `${capital(MANY)} read`],
  ["batch", "Time per micro-batch"],
  ["lag", "Waiting"],
  ["history", "History kept"],
  ["rejected", "Rejected"],
  ["rebuilds", "Rebuilds"],
];

export class EngineFacts {
  constructor(health) {
    this.health = health;
    this.values = Object.fromEntries(FACTS.map(([key]) => [key, element("dd", {}, "\u2013")]));
    this.verdict = element("p", { class: "verdict" });
    this.before = null;
    this.element = element(
      "section",
      { class: "panel", "aria-label": "Engine" },
      element(
        "div",
        { class: "panel-head" },
        element("h2", {}, "Engine"),
        element("a", { href: "/health", "data-go": true }, "Health of all parts"),
      ),
      this.verdict,
      element(
        "dl",
        { class: "pairs" },
        FACTS.flatMap(([key, title]) => [element("dt", {}, title), this.values[key]]),
      ),
    );
    feeds.engine.listen((feed) => this.take(feed));
  }

  take(feed) {
    if (feed.state !== "good") return;
    const { data } = feed;
    const say = (key, text) => setText(this.values[key], text);
    const now = { count: total(data, "batch_seconds_count"), sum: total(data, "batch_seconds_sum") };
    if (this.before && now.count > this.before.count) {
      say("batch", milliseconds((now.sum - this.before.sum) / (now.count - this.before.count) * 1000));
    }
    if (!this.before || now.count - this.before.count >= 5 || now.count < this.before.count) {
      this.before = now;
    }
    say("judged", figure(total(data, "rows_total", (labels) => labels.source === "transactions")));
    say("lag", figure(total(data, "lag_records")));
    say("history", `${figure(total(data, "history_rows"))} rows, ${bytes(total(data, "history_bytes"))}`);
    say("rejected", figure(total(data, "rejects_total")));
    say("rebuilds", figure(total(data, "rebuilds_total")));
  }

  tick(now) {
    const verdict = this.health.verdict(now);
    setText(this.verdict, verdict.text);
    this.verdict.dataset.level = verdict.level;
  }
}
