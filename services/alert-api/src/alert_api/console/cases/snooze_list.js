// Snoozes: those that wait for somebody, those in force, and what came of the others.

import { call, SignedOut } from "../core/client.js";
import { arrange, button, element, setText } from "../core/dom.js";
import { SnoozeItem } from "./snooze_item.js";

const AGAIN_MS = 5000;
const SHOWN = 25;
// What is open, however old it is, and the newest.
const ASKED = ["state=requested&limit=100", "state=in_force&limit=100", `limit=${SHOWN}`];
const RANK = { requested: 0, in_force: 1 };

export class SnoozeList {
  constructor() {
    this.list = element("ul", { class: "rules", id: "snooze-list", "aria-label": "Snoozes" });
    this.empty = element("p", { class: "empty" });
    this.error = element("p", { class: "error", role: "alert" });
    this.older = button("Show older snoozes", () => this.readOlder(), { class: "quiet wide", hidden: true });
    this.element = element(
      "article",
      { class: "snoozes", hidden: true },
      element("a", { class: "back", href: "/cases", "data-go": true }, "\u2190 All cases"),
      element("h1", {}, "Snoozes"),
      element(
        "p",
        { class: "muted" },
        "What a snooze covers is kept and counted, and is in no case until it is over. Ask for one on the page of a case or an alert.",
      ),
      this.error,
      this.list,
      this.empty,
      this.older,
    );
    this.forget();
  }

  forget() {
    this.generation = (this.generation ?? 0) + 1;
    Object.assign(this, { snoozes: new Map(), items: new Map(), next: null, readAt: 0, paged: false });
    this.list.replaceChildren();
    setText(this.empty, "");
    setText(this.error, "");
  }

  open() {
    this.paged = false;
    this.read();
  }

  tick(now) {
    if (now - this.readAt >= AGAIN_MS) this.read();
  }

  async read() {
    const generation = (this.generation += 1);
    this.readAt = Date.now();
    try {
      const answers = await Promise.all(ASKED.map((query) => call(`/v1/snoozes?${query}`)));
      if (generation !== this.generation) return;
      if (!this.paged) this.snoozes = new Map();
      this.take(answers.flatMap(({ body }) => body.items));
      if (!this.paged) this.next = answers.at(-1).next;
      setText(this.error, "");
      this.render();
    } catch (error) {
      if (generation !== this.generation || error instanceof SignedOut) return;
      setText(this.error, `The snoozes cannot be read now: ${error.message}`);
    }
  }

  async readOlder() {
    const { generation } = this;
    this.older.disabled = true;
    try {
      const { body, next } = await call(this.next);
      Object.assign(this, { next, paged: true });
      this.take(body.items);
      if (generation === this.generation) this.render();
    } catch (error) {
      setText(this.error, `Older snoozes cannot be read now: ${error.message}`);
    } finally {
      this.older.disabled = false;
    }
  }

  take(snoozes) {
    for (const snooze of snoozes) this.snoozes.set(snooze.snoozeId, snooze);
  }

  /** What somebody types a reason for stays as it is. */
  render() {
    const rank = ({ state }) => RANK[state] ?? 2;
    const sorted = [...this.snoozes.values()].sort((a, b) => rank(a) - rank(b) || b.snoozeId - a.snoozeId);
    const kept = new Map();
    for (const snooze of sorted) {
      const old = this.items.get(snooze.snoozeId);
      const shown = JSON.stringify(snooze);
      const isTyping = old?.item.reason.value && old.item.snooze.version === snooze.version;
      const item = old && (old.shown === shown || isTyping)
        ? old.item
        : new SnoozeItem(snooze, () => this.read());
      kept.set(snooze.snoozeId, { shown: item === old?.item ? old.shown : shown, item });
    }
    this.items = kept;
    arrange(this.list, [...kept.values()].map(({ item }) => item.element));
    this.older.hidden = !this.next;
    this.empty.hidden = kept.size > 0;
    setText(this.empty, kept.size ? "" : "Nothing is snoozed, and nothing has been.");
  }
}
