// The inbox: cases, those with the newest alert first, and one case in full.

import { call, session, SignedOut } from "../core/client.js";
import { arrange, button, byId, element, setText } from "../core/dom.js";
import { here } from "../core/router.js";
import { CaseActs } from "./case_acts.js";
import { CaseFilters } from "./case_filters.js";
import { CasePage } from "./case_page.js";
import { CaseRow } from "./case_row.js";
import { countsText } from "./case_words.js";
import { SnoozeLine } from "../parts/snooze_line.js";
import { SnoozeList } from "./snooze_list.js";
import { keyLine, showKeys } from "./key_help.js";
import { SavedViews } from "./saved_views.js";
import { prepareTriageKeys } from "./triage_keys.js";

const PAGE = 25;
const AGAIN_MS = 15_000;
const SOON_MS = 2_000;
const SNOOZES = "snoozes";

export class CasesView {
  constructor() {
    const replace = (one) => this.replace(one);
    this.acts = new CaseActs({
      changed: replace,
      stale: () => this.reread(),
      changedMany: () => this.reread(),
    });
    this.filters = new CaseFilters();
    this.saved = new SavedViews();
    this.page = new CasePage(this.acts);
    this.snoozes = new SnoozeList();
    this.snoozeLine = new SnoozeLine();
    this.list = element("ol", {
      class: "alerts",
      id: "case-list",
      "aria-label": "Cases, newest alert first",
    });
    this.empty = element("p", { class: "empty" });
    this.error = element("p", { class: "error", role: "alert" });
    this.counts = element("p", { class: "muted small", id: "case-counts" });
    this.older = button("Show older cases", () => this.readOlder(), {
      class: "quiet wide",
      id: "older-cases",
    });
    this.all = button("With all of these\u2026", () => this.acts.bulk(unsorted(this.query)), {
      id: "case-bulk",
    });
    this.overview = element(
      "div",
      {},
      element(
        "div",
        { class: "panel-head" },
        element("h1", {}, "Cases"),
        element(
          "div",
          { class: "case-ways" },
          element("a", { class: "small", href: "/webhooks", "data-go": true }, "Webhooks"),
          this.all,
        ),
      ),
      this.saved.element,
      this.filters.element,
      this.counts,
      this.snoozeLine.element,
      this.error,
      this.list,
      this.empty,
      this.older,
      keyLine(),
    );
    byId("cases").append(
      element("div", { class: "panel" }, this.overview, this.page.element, this.snoozes.element),
    );
    prepareTriageKeys({
      j: () => this.step(1),
      k: () => this.step(-1),
      a: () => this.withChosen("acknowledge"),
      e: () => this.withChosen("claim"),
      r: () => this.withChosen("resolve"),
      "?": showKeys,
    });
    this.generation = 0;
    this.forget();
  }

  forget() {
    this.generation += 1;
    Object.assign(this, {
      key: null,
      cases: [],
      next: null,
      done: false,
      readAt: 0,
      dirty: false,
      paged: false,
    });
    this.rows = new Map();
    this.query = new URLSearchParams();
    setText(this.counts, "");
    setText(this.error, "");
    arrange(this.list, []);
    this.page.forget();
    this.snoozes.forget();
    this.snoozeLine.forget();
    this.filters.forget();
    this.saved.forget();
  }

  open({ id, query }) {
    this.overview.hidden = id !== null;
    this.page.element.hidden = id === null || id === SNOOZES;
    this.snoozes.element.hidden = id !== SNOOZES;
    if (id === SNOOZES) {
      this.page.forget();
      document.title = "Snoozes \u2013 Tripline";
      return void this.snoozes.open();
    }
    if (id !== null) return void this.page.open(id, `/cases${query.size ? `?${query}` : ""}`);
    this.page.forget();
    this.all.hidden = !session.may("alerts:ack");
    this.query = this.filters.show(query);
    this.saved.open();
    const key = `?${query}`;
    if (key !== this.key) Object.assign(this, { key, cases: [], rows: new Map(), done: false, paged: false });
    this.read();
    return undefined;
  }

  async read() {
    const generation = (this.generation += 1);
    Object.assign(this, { readAt: Date.now(), dirty: false, paged: false });
    this.snoozeLine.read();
    this.count(generation);
    try {
      const { body, next } = await call(`/v1/cases?${this.query}${this.query.size ? "&" : ""}limit=${PAGE}`);
      if (generation !== this.generation) return;
      Object.assign(this, { cases: body.items, next, done: true });
      setText(this.error, "");
      this.render();
    } catch (error) {
      if (generation !== this.generation || error instanceof SignedOut) return;
      const told = error.body?.errors?.map(({ message }) => message).join("; ");
      setText(
        this.error,
        told ? `This filter is not one: ${told}` : `The cases cannot be read now: ${error.message}`,
      );
    }
  }

  /** Of very many cases the counts take longer than a page of them. */
  async count(generation) {
    try {
      const { body } = await call(`/v1/cases/summary?${unsorted(this.query)}`);
      if (generation === this.generation) setText(this.counts, countsText(body));
    } catch {
      // What keeps them away keeps the cases away too, and is told there.
    }
  }

  async readOlder() {
    const { generation } = this;
    this.older.disabled = true;
    try {
      const { body, next } = await call(this.next);
      if (generation !== this.generation) return;
      this.cases = [...this.cases, ...body.items.filter((other) => !this.rows.has(other.caseId))];
      Object.assign(this, { next, paged: true });
      this.render();
    } catch (error) {
      setText(this.error, `Older cases cannot be read now: ${error.message}`);
    } finally {
      this.older.disabled = false;
    }
  }

  reread() {
    if (here().view !== "cases") return;
    if (here().id === null) this.read();
    else if (here().id !== SNOOZES) this.page.read();
  }

  /** Something happened to an alert: cases may be others by now. */
  alert() {
    this.dirty = true;
  }

  catchUp() {
    this.dirty = true;
  }

  replace(one) {
    this.page.replace(one);
    this.cases = this.cases.map((other) => (other.caseId === one.caseId ? one : other));
    this.render();
    this.dirty = true;
  }

  render() {
    const search = this.key === "?" ? "" : this.key ?? "";
    const kept = new Map();
    for (const one of this.cases) {
      const row = this.rows.get(one.caseId) ?? new CaseRow(one, this.acts, search);
      row.update(one);
      row.tick(Date.now());
      kept.set(one.caseId, row);
    }
    this.rows = kept;
    arrange(this.list, [...kept.values()].map((row) => row.element));
    this.older.hidden = !this.next;
    this.empty.hidden = !this.done || kept.size > 0;
    setText(
      this.empty,
      this.key === "?" ? "Nothing is waiting: every case is resolved." : "No case fits these filters.",
    );
  }

  tick(now) {
    if (here().view !== "cases" || document.hidden) return;
    if (here().id === SNOOZES) return void this.snoozes.tick(now);
    for (const row of this.rows.values()) row.tick(now);
    if (document.querySelector("dialog[open]") || this.paged) return;
    if (now - Math.max(this.readAt, this.page.readAt) < (this.dirty ? SOON_MS : AGAIN_MS)) return;
    this.dirty = false;
    this.reread();
  }

  step(by) {
    if (here().id !== null) return;
    const rows = [...this.rows.values()];
    const now = rows.findIndex((row) => row.element.contains(document.activeElement));
    rows[now < 0 ? 0 : Math.min(Math.max(now + by, 0), rows.length - 1)]?.link.focus();
  }

  withChosen(act) {
    if (!session.may("alerts:ack")) return;
    const row = [...this.rows.values()].find(({ element: node }) => node.contains(document.activeElement));
    const one = here().id === null ? row?.one : this.page.one;
    if (one) this.acts[act](one);
  }
}

/** The filters alone: what is counted, and done at once, has no order. */
function unsorted(query) {
  const filters = new URLSearchParams(query);
  filters.delete("sort");
  return filters;
}
