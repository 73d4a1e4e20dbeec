// The audit trail: newest first, by filter, and as a file that can be checked.

import { registry, session } from "../core/client.js";
import { button, byId, choice, element, form, labelled, setText } from "../core/dom.js";
import { save } from "../core/download.js";
import { go, here } from "../core/router.js";
import { entryItem } from "./audit_entry.js";

const SHOWN = 50;
const KINDS = ["rule", "list", "parameter", "settings", "command", "key", "backtest"];
const NAMES = ["actor", "kind", "subject"];

export class AuditView {
  constructor() {
    this.next = null;
    this.fields = {
      actor: element("input", { id: "audit-actor", maxlength: 200, autocomplete: "off" }),
      kind: choice([["", "anything"], ...KINDS.map((kind) => [kind, kind])], { id: "audit-kind" }),
      subject: element("input", { id: "audit-subject", maxlength: 64, autocomplete: "off" }),
    };
    this.list = element("ol", { class: "rules audit", "aria-label": "Audit trail" });
    this.empty = element("p", { class: "empty" });
    this.error = element("p", { class: "error", role: "alert" });
    this.head = element("p", { class: "muted small audit-head" });
    this.more = button("Show more", () => this.read(this.next));
    this.more.hidden = true;
    byId("audit").append(this.build());
  }

  build() {
    const { actor, kind, subject } = this.fields;
    return element(
      "div",
      { class: "panel" },
      element(
        "div",
        { class: "panel-head" },
        element("h1", {}, "Audit trail"),
        button("Export", () => this.export()),
      ),
      form(
        () => this.choose(),
        { class: "audit-filter" },
        labelled("Who", actor),
        labelled("Of what", kind),
        labelled("Its id or name", subject),
        element("button", { type: "submit", class: "quiet" }, "Show"),
      ),
      this.head,
      this.error,
      this.list,
      this.empty,
      this.more,
    );
  }

  forget() {
    this.next = null;
    this.more.hidden = true;
    this.list.replaceChildren();
    for (const node of [this.empty, this.error, this.head]) setText(node, "");
  }

  open({ query }) {
    for (const name of NAMES) this.fields[name].value = query.get(name) ?? "";
    this.forget();
    this.read();
    this.readHead();
  }

  /** What is chosen stands in the address, so it can be sent to somebody. */
  choose() {
    const query = this.query();
    go(`/audit${query.size ? `?${query}` : ""}`);
  }

  query() {
    return new URLSearchParams(
      NAMES.map((name) => [name, this.fields[name].value.trim()]).filter(([, value]) => value),
    );
  }

  async read(address = null) {
    const { token } = session;
    const query = this.query();
    query.set("order", "newest");
    query.set("limit", SHOWN);
    this.more.disabled = true;
    try {
      const answer = await registry(address ?? `/audit?${query}`);
      if (token !== session.token || here().view !== "audit") return;
      this.list.append(...answer.body.items.map(entryItem));
      this.next = answer.next && `/audit${new URL(answer.next, location.origin).search}`;
      this.more.hidden = !this.next;
      setText(this.empty, this.list.children.length ? "" : "Nothing in the trail is of this kind.");
      setText(this.error, "");
    } catch (error) {
      setText(this.error, error.body?.errors?.[0]?.message ?? error.message);
    } finally {
      this.more.disabled = false;
    }
  }

  async readHead() {
    try {
      const { body } = await registry("/audit/head");
      setText(
        this.head,
        `${body.sequence} entries; the last one's hash is ${body.hash}. Kept elsewhere, it shows later that ` +
          "nothing was altered: rules-registry audit verify.",
      );
    } catch {
      setText(this.head, "");
    }
  }

  async export() {
    setText(this.error, "");
    try {
      await save(`/console/registry/audit/export?${this.query()}`, "audit.jsonl");
    } catch (error) {
      setText(this.error, `${error.message} The whole trail: GET /v1/audit/export of the registry.`);
    }
  }
}
