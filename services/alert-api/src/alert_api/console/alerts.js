// The list of alerts: the newest page is read again and again, older ones on request.

import { AcknowledgeDialog } from "./acknowledge.js";
import { AlertRow, summary } from "./alert_row.js";
import { call } from "./client.js";
import { arrange, byId, setText } from "./dom.js";
import { ago, milliseconds } from "./format.js";

const PAGE = 25;
const EMPTY = {
  "": "Nothing has tripped yet. When a rule does, the alert appears here within a second.",
  open: "Nothing is waiting. Every alert has somebody's name on it.",
  acknowledged: "Nobody has acknowledged an alert yet.",
};

export class AlertList {
  constructor(onSignedOut) {
    this.rows = new Map();
    this.alerts = [];
    this.filter = { state: "", ruleId: "" };
    this.live = true;
    this.generation = 0;
    this.list = byId("alert-list");
    this.dialog = new AcknowledgeDialog((alert) => this.replace(alert), onSignedOut);
    this.listen();
  }

  listen() {
    for (const input of document.querySelectorAll('input[name="state"]')) {
      input.addEventListener("change", () => this.choose({ state: input.value }));
    }
    byId("rule-filter").addEventListener("change", (event) => this.choose({ ruleId: event.target.value }));
    byId("live").addEventListener("click", () => (this.live ? this.setLive(false) : this.choose({})));
    byId("older").addEventListener("click", () => this.readOlder());
  }

  choose(change) {
    this.filter = { ...this.filter, ...change };
    this.reset();
    this.setLive(true);
    this.refresh().catch(() => { /* the next round says what is wrong */ });
  }

  /** Forgets everything shown; an answer under way for another filter or another key is then ignored. */
  reset() {
    this.generation += 1;
    this.rows.clear();
    this.alerts = [];
    this.next = null;
    this.read = false;
    this.render();
  }

  setLive(live) {
    this.live = live;
    byId("live").setAttribute("aria-pressed", String(live));
    setText(byId("live"), live ? "Live" : "Paused");
  }

  async refresh() {
    const generation = this.generation;
    const query = new URLSearchParams({ limit: PAGE });
    if (this.filter.state) query.set("state", this.filter.state);
    if (this.filter.ruleId) query.set("ruleId", this.filter.ruleId);
    const { body, next } = await call(`/v1/alerts?${query}`);
    if (generation !== this.generation || (!this.live && this.read)) return;
    this.alerts = body.items;
    this.next = next;
    this.read = true;
    this.render();
  }

  /** Older pages stand still: with new alerts above, there could be a gap that nobody sees. */
  async readOlder() {
    this.setLive(false);
    const button = byId("older");
    const generation = this.generation;
    button.disabled = true;
    try {
      const { body, next } = await call(this.next);
      if (generation !== this.generation) return;
      this.alerts = [...this.alerts, ...body.items];
      this.next = next;
      this.render();
    } catch { /* the button stays: the user may press it again, and the header says what is away */
    } finally {
      button.disabled = false;
    }
  }

  /** Puts the alert as it is now in the place of what was read before. */
  replace(alert) {
    this.alerts = this.alerts.map((each) => (each.alertId === alert.alertId ? alert : each));
    this.render();
  }

  render() {
    const shown = this.alerts;
    const first = this.rows.size === 0;
    const kept = new Map();
    for (const alert of shown) kept.set(alert.alertId, this.rowOf(alert, first));
    this.rows = kept;
    arrange(this.list, [...kept.values()].map((row) => row.element));
    byId("older").hidden = !this.next;
    byId("alerts-empty").hidden = !this.read || shown.length > 0;
    setText(byId("alerts-empty"), EMPTY[this.filter.state]);
    this.tick(Date.now());
  }

  rowOf(alert, first) {
    const row = this.rows.get(alert.alertId);
    if (row) {
      row.update(alert);
      return row;
    }
    const fresh = new AlertRow(alert, (each) => this.dialog.open(each, summary(each)));
    if (!first) fresh.element.classList.add("fresh");
    return fresh;
  }

  /** Ages and figures, as time goes by. */
  tick(now) {
    for (const row of this.rows.values()) row.tick(now);
    const shown = [...this.rows.values()].map((row) => row.alert);
    const open = shown.filter((alert) => alert.state === "open").length;
    setText(byId("figure-open"), this.read ? String(open) : "\u2013");
    setText(byId("figure-open-of"), this.read && this.next ? ` of the newest ${shown.length}` : "");
    setText(byId("figure-newest"), shown.length ? ago(shown[0].eventTime, now) : "\u2013");
    setText(byId("figure-detect"), median(shown));
  }
}

function median(alerts) {
  const times = alerts.filter((alert) => alert.ingestedAt !== null && alert.ingestedAt !== undefined)
    .map((alert) => Math.max(0, alert.detectedAt - alert.ingestedAt)).sort((a, b) => a - b);
  return times.length ? milliseconds(times[Math.floor(times.length / 2)]) : "\u2013";
}
