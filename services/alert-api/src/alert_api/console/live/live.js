// The line as it runs: three moving charts, the newest alerts, the rules that fire, transactions, the
// generator.

import { AlertRow } from "../parts/alert_row.js";
import { keepDrawing, MovingChart } from "../core/chart.js";
import { arrange, byId, element } from "../core/dom.js";
import { capital, MANY, ONE } from "../core/event_type.js";
import { figure, milliseconds } from "../core/format.js";
import { Lamps } from "./status_lamps.js";
import { feeds } from "../core/pipeline.js";
import { here } from "../core/router.js";
import { openAcknowledge } from "../parts/acknowledge.js";
import { Arrivals } from "./arrivals.js";
import { Sampled } from "./event_sample.js";
import { Traffic } from "./traffic.js";
import { EngineFacts } from "./engine_facts.js";
import { call } from "../core/client.js";

const SHOWN = 9;
const MINUTE = 60_000;

export class LiveView {
  constructor(health) {
    this.charts = {
      transactions: new MovingChart(`${capital(MANY)} per second`, {
        kind: "of-transactions",
        shown: figure,
      }),
      alerts: new MovingChart("Alerts per second", { kind: "of-alerts", shown: figure }),
      latency: new MovingChart(`From ${ONE} to alert`, { kind: "of-latency", shown: milliseconds }),
    };
    this.lamps = new Lamps();
    this.sampled = new Sampled();
    this.traffic = new Traffic();
    this.engine = new EngineFacts(health);
    this.list = element("ol", { class: "alerts", "aria-label": "Newest alerts" });
    this.empty = element(
      "p",
      { class: "empty" },
      "Nothing has tripped yet. When a rule does, the alert appears here at once.",
    );
    this.forget();
    this.build();
    feeds.transactions.listen((feed) => this.takeTransactions(feed));
    keepDrawing(Object.values(this.charts), () => here().view === "live" && !document.hidden);
  }

  build() {
    const { transactions, alerts, latency } = this.charts;
    byId("live").append(
      element("h1", { class: "unseen" }, "Live"),
      element("div", { class: "charts" }, transactions.element, alerts.element, latency.element),
      element(
        "div",
        { class: "live-columns" },
        element(
          "div",
          { class: "stack" },
          element(
            "section",
            { class: "panel", "aria-label": "Newest alerts" },
            element(
              "div",
              { class: "panel-head" },
              element("h2", {}, "Newest alerts"),
              element("a", { href: "/alerts?state=open", "data-go": true }, "All open alerts"),
            ),
            this.list,
            this.empty,
          ),
          this.sampled.element,
        ),
        element("div", { class: "stack" }, this.lamps.element, this.traffic.element, this.engine.element),
      ),
    );
  }

  forget() {
    this.alerts = [];
    this.rows = new Map();
    this.arrivals = new Arrivals();
    this.marks = [];
    this.read = false;
    for (const chart of Object.values(this.charts)) chart.clear();
    this.lamps?.forget();
    this.sampled?.forget();
    arrange(this.list, []);
  }

  open() {
    this.traffic.open();
    if (!this.read) this.readNewest();
    // Nothing was drawn of what came while another view was shown.
    else this.render();
  }

  /** What had tripped before the stream was opened. */
  async readNewest() {
    this.read = true;
    try {
      const { body } = await call(`/v1/alerts?snoozed=false&limit=${SHOWN}`);
      for (const alert of body.items.reverse()) this.put(alert);
      this.render();
    } catch {
      this.read = false;
    }
  }

  /** After an interruption of the stream. */
  catchUp() {
    if (this.read) this.readNewest();
  }

  /** An alert was raised or acknowledged just now. */
  alert(kind, alert) {
    const known = this.alerts.some((other) => other.alertId === alert.alertId);
    this.put(alert);
    if (kind === "AlertRaised" && !known) {
      const now = Date.now();
      this.arrivals.add(
        now,
        alert.ingestedAt === null ? null : Math.max(0, alert.detectedAt - alert.ingestedAt),
      );
      this.lamps.fire(alert, now);
    }
    if (here().view !== "live") return;
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      this.render();
    });
  }

  /** The charts count what is snoozed, too; nobody waits for it in the list. */
  put(alert) {
    if (alert.snoozeId) return;
    this.alerts = [alert, ...this.alerts.filter((other) => other.alertId !== alert.alertId)]
      .sort((a, b) => b.detectedAt - a.detectedAt || b.eventTime - a.eventTime).slice(0, SHOWN);
  }

  render() {
    const first = this.rows.size === 0;
    const kept = new Map();
    for (const alert of this.alerts) {
      const row = this.rows.get(alert.alertId) ?? new AlertRow(alert, openAcknowledge);
      if (!first && !this.rows.has(alert.alertId)) row.arrive();
      row.update(alert);
      kept.set(alert.alertId, row);
    }
    this.rows = kept;
    arrange(this.list, [...kept.values()].map((row) => row.element));
    this.empty.hidden = kept.size > 0;
    for (const row of kept.values()) row.tick(Date.now());
  }

  takeTransactions(feed) {
    if (feed.state !== "good") return;
    const now = Date.now();
    this.marks.push({ at: now, written: feed.data.written });
    while (this.marks[0].at < now - 5000) this.marks.shift();
    const first = this.marks[0];
    if (now - first.at < 500) return;
    const rate = Math.max(0, (feed.data.written - first.written) / (now - first.at) * 1000);
    this.charts.transactions.add(now, rate);
    this.charts.transactions.say(figure(rate), "as written to Kafka");
  }

  tick(now) {
    const { alerts, latency } = this.charts;
    const recent = this.arrivals.count(now - 5000) / 5;
    if (this.read) {
      alerts.add(now, recent);
      alerts.say(figure(recent), `${this.arrivals.count(now - MINUTE)} in the last minute`);
    }
    const [second, minute] = [this.arrivals.took(now - 3000), this.arrivals.took(now - MINUTE)];
    latency.add(now, second.length ? share(second, 0.5) : null);
    if (minute.length) {
      latency.say(milliseconds(share(minute, 0.5)), `99 of 100 under ${milliseconds(share(minute, 0.99))}`);
    } else latency.say("\u2013", "no alert in the last minute");
    this.lamps.tick(now);
    this.engine.tick(now);
    for (const row of this.rows.values()) row.tick(now);
  }
}

/** The value below which that share of the sorted values lies. */
function share(sorted, part) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}
