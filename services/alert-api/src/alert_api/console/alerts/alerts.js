// The alerts to work on: a filtered list that follows what happens, and one alert in full.

import { onAcknowledged, openAcknowledge } from "../parts/acknowledge.js";
import { countAlerts } from "./alert_counts.js";
import { AlertFilters, apiQuery } from "./alert_filters.js";
import { AlertPage } from "./alert_page.js";
import { AlertPages, newestFirst } from "./alert_pages.js";
import { AlertRow } from "../parts/alert_row.js";
import { Absent, SignedOut } from "../core/client.js";
import { arrange, button, byId, element, setText } from "../core/dom.js";
import { SnoozeLine } from "../parts/snooze_line.js";
import { hoursChart } from "./hours_chart.js";
import { fitsWork } from "./work_filters.js";
import { WhyNot } from "./why_not.js";
import { MEMBERS, ruleIdsOf } from "../core/purposes.js";
import { here } from "../core/router.js";

const SUMMARY_MS = 15_000;
const EMPTY = {
  "": "Nothing has tripped yet. When a rule does, the alert appears here at once.",
  open: "Nothing is waiting. Every alert has somebody's name on it.",
  acknowledged: "Nobody has acknowledged an alert yet.",
};

export class AlertsView {
  constructor() {
    this.filters = new AlertFilters();
    this.page = new AlertPage();
    this.list = element("ol", { class: "alerts", id: "alert-list", "aria-label": "Alerts, newest first" });
    this.empty = element("p", { class: "empty" });
    this.error = element("p", { class: "error", role: "alert" });
    this.older = button("Show older alerts", () => this.readOlder(), { class: "quiet wide", id: "older" });
    this.hours = element("div");
    this.snoozeLine = new SnoozeLine(" and not shown");
    this.whyNot = new WhyNot();
    this.overview = element(
      "div",
      {},
      element("div", { class: "panel-head" }, element("h1", {}, "Alerts")),
      this.hours,
      this.filters.element,
      this.snoozeLine.element,
      this.error,
      this.list,
      this.empty,
      this.older,
      this.whyNot.element,
    );
    byId("alerts").append(element("div", { class: "panel" }, this.overview, this.page.element));
    this.generation = 0;
    this.summaryAt = 0;
    onAcknowledged((alert) => this.replace(alert));
    this.forget();
  }

  forget() {
    this.generation += 1;
    this.key = null;
    this.alerts = [];
    this.rows = new Map();
    this.pages = null;
    this.query = null;
    this.ruleIds = null;
    this.rules = null;
    this.hours.replaceChildren();
    arrange(this.list, []);
    this.page.forget();
    this.filters.forget();
    this.snoozeLine.forget();
    this.whyNot.forget();
  }

  open({ id, query }) {
    this.overview.hidden = id !== null;
    this.page.element.hidden = id === null;
    if (id !== null) return void this.page.open(id, `/alerts${query.size ? `?${query}` : ""}`);
    this.page.forget();
    const asked = this.filters.show(query);
    if (asked.toString() !== this.key) {
      this.key = asked.toString();
      this.query = asked;
      this.alerts = [];
      this.rows = new Map();
      this.rules = null;
      this.read();
    }
    this.readSummary();
    return undefined;
  }

  async read() {
    const generation = (this.generation += 1);
    this.done = false;
    this.render();
    try {
      const ruleIds = await (this.rules = this.rulesAsked());
      if (generation !== this.generation) return;
      const query = apiQuery(this.query);
      for (const name of MEMBERS) query.delete(name);
      const pages = new AlertPages(query, ruleIds);
      const alerts = await pages.next();
      if (generation !== this.generation) return;
      Object.assign(this, { alerts, pages, ruleIds, done: true });
      setText(this.error, "");
      this.render();
    } catch (error) {
      if (generation !== this.generation || error instanceof SignedOut) return;
      setText(
        this.error,
        error.body?.errors
          ? `This filter is not one: ${error.body.errors.map((problem) => problem.message).join("; ")}`
          : `The alerts cannot be read now: ${error.message}`,
      );
      this.key = null;
    }
  }

  /** The ids of the rules that are for what is asked for, which the API knows nothing of; null where nothing is. */
  async rulesAsked() {
    if (!MEMBERS.some((name) => this.query.get(name))) return null;
    const only = this.query.get("ruleId");
    return new Set((await ruleIdsOf(this.query)).filter((id) => !only || String(id) === only));
  }

  async readOlder() {
    const generation = this.generation;
    this.older.disabled = true;
    try {
      const older = await this.pages.next();
      if (generation !== this.generation) return;
      this.alerts = [...this.alerts, ...older.filter((other) => !this.rows.has(other.alertId))];
      this.render();
    } catch (error) {
      setText(this.error, `Older alerts cannot be read now: ${error.message}`);
    } finally {
      this.older.disabled = false;
    }
  }

  /** After an interruption of the stream: what is shown may have changed meanwhile. */
  catchUp() {
    if (this.key !== null && here().view === "alerts" && here().id === null) this.read();
    this.page.reread();
  }

  /** Something happened; what belongs to the filter goes in at its place. */
  alert(kind, alert) {
    this.page.replace(alert);
    if (this.key === null || !this.done) return;
    if (this.rows.has(alert.alertId)) return void this.replace(alert);
    const last = this.alerts.at(-1);
    const isBelow = this.pages.hasMore && last && alert.eventTime < last.eventTime;
    // A mark may bring an alert into the filter; who acknowledges one does not.
    if (kind === "AlertAcknowledged" || isBelow || !belongs(alert, this.query, this.ruleIds)) return;
    this.alerts = [alert, ...this.alerts].sort(newestFirst);
    // A list that grows all day would slow the page down: what falls off is still on the older pages.
    if (this.alerts.length > 400) this.read();
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      this.render();
    });
  }

  replace(alert) {
    this.page.replace(alert);
    this.alerts = this.alerts.map((other) => (other.alertId === alert.alertId ? alert : other));
    this.render();
  }

  async readSummary() {
    this.summaryAt = Date.now();
    this.snoozeLine.read();
    const { key } = this;
    try {
      const only = this.query?.get("ruleId");
      const rules = await this.rules ?? (only ? new Set([only]) : null);
      const counted = await countAlerts(rules, this.query ?? undefined);
      if (key === this.key) this.hours.replaceChildren(hoursChart(counted));
    } catch (error) {
      if (error instanceof Absent) this.hours.replaceChildren();
    }
  }

  render() {
    const first = this.rows.size === 0;
    const search = this.key ? `?${this.key}` : "";
    const kept = new Map();
    for (const alert of this.alerts) {
      const row = this.rows.get(alert.alertId) ?? new AlertRow(alert, openAcknowledge, search);
      if (!first && !this.rows.has(alert.alertId)) row.arrive();
      row.update(alert);
      kept.set(alert.alertId, row);
    }
    this.rows = kept;
    arrange(this.list, [...kept.values()].map((row) => row.element));
    this.older.hidden = !this.pages?.hasMore;
    this.empty.hidden = !this.done || kept.size > 0;
    const only = this.key !== null && [...(this.query?.keys() ?? [])].some((name) => name !== "state");
    setText(this.empty, only ? "No alert fits these filters." : EMPTY[this.query?.get("state") ?? ""] ?? "");
    for (const row of kept.values()) row.tick(Date.now());
  }

  tick(now) {
    if (here().view !== "alerts" || document.hidden) return;
    for (const row of this.rows.values()) row.tick(now);
    if (here().id === null && this.query && now - this.summaryAt > SUMMARY_MS) this.readSummary();
    if (here().id !== null) this.page.tick();
    // A reading that failed is tried again.
    if (here().id === null && this.query && this.key === null && this.done === false) this.open(here());
  }
}

function belongs(alert, query, ruleIds) {
  const [field, ...rest] = (query.get("group") ?? "").split(":");
  return (!query.get("state") || query.get("state") === alert.state) &&
    fitsWork(alert, query) &&
    (ruleIds === null || ruleIds.has(alert.ruleId)) &&
    (!query.get("ruleId") || Number(query.get("ruleId")) === alert.ruleId) &&
    (!field || alert.group[field] === rest.join(":")) &&
    belongsToSnooze(alert, apiQuery(query)) &&
    (!query.get("voided") || query.get("voided") === String(alert.voided.length > 0)) &&
    (!query.get("from") || alert.eventTime >= Number(query.get("from"))) &&
    (!query.get("to") || alert.eventTime <= Number(query.get("to")));
}

function belongsToSnooze({ snoozeId = null }, query) {
  const [snoozed, only] = [query.get("snoozed"), query.get("snoozeId")];
  return (!snoozed || snoozed === String(snoozeId !== null)) && (!only || only === String(snoozeId));
}
