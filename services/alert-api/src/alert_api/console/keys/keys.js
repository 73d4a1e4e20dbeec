// API keys, for admins: who has one, giving one out, rotating it, revoking it.

import { registryItems, session } from "../core/client.js";
import { arrange, button, byId, element, setText } from "../core/dom.js";
import { here } from "../core/router.js";
import { GiveOutForm, RevokeForm, RotateForm } from "./key_forms.js";
import { keyItem } from "./key_item.js";

const AGAIN_MS = 5000;
const DIALOG = "rule-dialog";
const NONE =
  "No key has been given out here yet. \u201cNew key\u201d gives out the first one: say whose it is and what its holder " +
  "may do, and hand over the text that you are shown then, for it is shown only once.";
const ENDED = "No key that was given out here is good any more.";

export class KeysView {
  constructor() {
    this.readAt = 0;
    this.rows = new Map();
    this.list = element("ol", { class: "rules", "aria-label": "Keys that were given out" });
    this.empty = element("p", { class: "empty" });
    this.error = element("p", { class: "error", role: "alert" });
    this.ended = element("input", { type: "checkbox", id: "keys-ended", on: { change: () => this.show() } });
    this.items = [];
    byId("keys").append(this.build());
    // What a form shows, a secret among it, is gone with its dialog.
    byId(DIALOG).addEventListener("close", () => {
      if (this.form) byId(`${DIALOG}-body`).replaceChildren();
      this.form = null;
    });
  }

  build() {
    return element(
      "div",
      { class: "panel" },
      element(
        "div",
        { class: "panel-head" },
        element("h1", {}, "API keys"),
        button("New key", () => this.openForm("New key", new GiveOutForm(this.acts())), { kind: "primary" }),
      ),
      element(
        "p",
        { class: "muted small keys-intro" },
        "Whoever uses a key acts under its name and in its role. Only hashes of keys are kept. " +
          "Keys of the services\u2019 files are not listed here.",
      ),
      element(
        "label",
        { class: "check small", for: "keys-ended" },
        this.ended,
        "Expired and revoked ones, too",
      ),
      this.error,
      this.list,
      this.empty,
    );
  }

  forget() {
    this.rows = new Map();
    this.items = [];
    this.list.replaceChildren();
    this.empty.hidden = true;
    setText(this.error, "");
  }

  open() {
    this.read();
  }

  tick(now) {
    if (here().view === "keys" && !document.hidden && now - this.readAt >= AGAIN_MS) this.read();
  }

  async read() {
    this.readAt = Date.now();
    const { token } = session;
    try {
      const items = await registryItems("/keys");
      if (token !== session.token) return;
      this.items = items;
      setText(this.error, "");
      this.show();
    } catch (error) {
      if (token === session.token) setText(this.error, `The keys cannot be read now: ${error.message}`);
    }
  }

  /** Those that are good first, each part by name. */
  show() {
    const [good, ended] = [true, false].map((is) =>
      this.items.filter((item) => (item.state === "ACTIVE") === is)
    );
    const kept = new Map();
    for (const item of this.ended.checked ? [...good, ...ended] : good) {
      // Of the time that has passed the minute is told.
      const shown = JSON.stringify([item, Math.floor(Date.now() / 60_000)]);
      const old = this.rows.get(item.name);
      kept.set(item.name, old?.shown === shown ? old : { shown, node: keyItem(item, this.choices()) });
    }
    this.rows = kept;
    arrange(this.list, [...kept.values()].map(({ node }) => node));
    setText(this.empty, this.items.length ? ENDED : NONE);
    this.empty.hidden = kept.size > 0;
  }

  choices() {
    return {
      rotate: (item) => this.openForm(`Rotate ${item.name}`, new RotateForm(item, this.acts())),
      revoke: (item) => this.openForm(`Revoke ${item.name}`, new RevokeForm(item, this.acts())),
    };
  }

  acts() {
    return { onChange: () => this.read(), onClose: () => byId(DIALOG).close() };
  }

  openForm(title, form) {
    this.form = form;
    setText(byId(`${DIALOG}-title`), title);
    byId(`${DIALOG}-body`).replaceChildren(form.element);
    byId(DIALOG).showModal();
    form.focus();
  }
}
