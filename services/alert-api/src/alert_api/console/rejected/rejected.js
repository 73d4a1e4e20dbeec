// What the engine did not accept: how much of it and why, one by one, and what becomes of each.

import { call, session } from "../core/client.js";
import { button, byId, choice, element, form, labelled, setText } from "../core/dom.js";
import { counted, fullTime } from "../core/format.js";
import { go, here } from "../core/router.js";
import { CAUSES, STATES } from "./reject_words.js";
import { RejectedItem } from "./rejected_item.js";

const PATH = "/v1/rejected-records";
const NAMES = ["reason", "state"];
const SHOWN = 25;
const AGAIN_MS = 5000;

export class RejectedView {
  constructor() {
    this.next = null;
    this.readAt = 0;
    this.newest = null;
    this.fields = {
      reason: choice([["", "any reason"], ...Object.entries(CAUSES)], { id: "rejected-reason" }),
      state: choice([["", "any state"], ...Object.entries(STATES)], { id: "rejected-state" }),
    };
    this.counts = element("ul", { class: "reject-counts", "aria-label": "How many, by reason" });
    this.list = element("ol", { class: "rules", "aria-label": "Rejected records" });
    this.empty = element("p", { class: "empty" });
    this.error = element("p", { class: "error", role: "alert" });
    this.fresh = button("Newer ones have come: show them", () => this.again());
    this.fresh.hidden = true;
    this.more = button("Show more", () => this.read(this.next));
    this.more.hidden = true;
    byId("rejected").append(this.build());
  }

  build() {
    return element(
      "div",
      { class: "panel" },
      element("div", { class: "panel-head" }, element("h1", {}, "Rejected records")),
      element(
        "p",
        { class: "muted small keys-intro" },
        "What came to the engine and was not accepted. No rule has seen it: correct it and send it again, or " +
          "leave it with a reason.",
      ),
      this.counts,
      form(
        () => this.choose(),
        { class: "audit-filter", on: { change: () => this.choose() } },
        labelled("Why", this.fields.reason),
        labelled("What became of it", this.fields.state),
      ),
      this.error,
      this.fresh,
      this.list,
      this.empty,
      this.more,
    );
  }

  forget() {
    this.next = null;
    this.newest = null;
    this.more.hidden = true;
    this.fresh.hidden = true;
    this.list.replaceChildren();
    this.counts.replaceChildren();
    for (const node of [this.empty, this.error]) setText(node, "");
  }

  open({ query }) {
    for (const name of NAMES) this.fields[name].value = query.get(name) ?? "";
    this.again();
  }

  again() {
    this.forget();
    this.read();
    this.count();
  }

  /** Who looks at one of them is not interrupted: that more have come is said, and the counts are told. */
  tick(now) {
    if (here().view !== "rejected" || document.hidden || now - this.readAt < AGAIN_MS) return;
    this.count();
  }

  choose() {
    const query = this.query();
    go(`/rejected${query.size ? `?${query}` : ""}`);
  }

  query() {
    return new URLSearchParams(
      NAMES.map((name) => [name, this.fields[name].value]).filter(([, value]) => value),
    );
  }

  async read(address = null) {
    const { token } = session;
    const query = this.query();
    query.set("limit", SHOWN);
    this.more.disabled = true;
    try {
      const answer = await call(address ?? `${PATH}?${query}`);
      if (token !== session.token || here().view !== "rejected") return;
      const changed = () => this.count();
      this.list.append(...answer.body.items.map((item) => new RejectedItem(item, changed).element));
      this.next = answer.next && `${PATH}${new URL(answer.next, location.origin).search}`;
      this.more.hidden = !this.next;
      setText(this.empty, this.list.children.length ? "" : "There are none of this kind.");
      setText(this.error, "");
    } catch (error) {
      if (token === session.token) setText(this.error, error.message);
    } finally {
      this.more.disabled = false;
    }
  }

  async count() {
    const { token } = session;
    this.readAt = Date.now();
    try {
      const { body } = await call(`${PATH}/counts`);
      if (token !== session.token) return;
      this.showCounts(body.items);
    } catch {
      // the list says so
    }
  }

  showCounts(items) {
    const causes = new Map();
    for (const { reason, state, count, last } of items) {
      const sum = causes.get(reason) ?? { all: 0, open: 0, last: 0 };
      causes.set(reason, {
        all: sum.all + count,
        open: sum.open + (state === "open" ? count : 0),
        last: Math.max(sum.last, last),
      });
    }
    this.counts.replaceChildren(
      ...[...causes].map(([reason, { all, open, last }]) =>
        element(
          "li",
          { title: `the last one at ${fullTime(last)}` },
          element("b", {}, CAUSES[reason] ?? reason),
          ` ${counted(all, "record")}, ${open} open`,
        )
      ),
    );
    const newest = Math.max(0, ...[...causes.values()].map(({ last }) => last));
    this.fresh.hidden = this.newest === null || newest <= this.newest;
    this.newest ??= newest;
  }
}
