// Named lists and parameters: what they are, who changed them last, and changing them.

import { registryItems, session } from "../core/client.js";
import { arrange, button, byId, element, setText } from "../core/dom.js";
import { MANY } from "../core/event_type.js";
import { counted, decimal, fullTime, timeOfDay } from "../core/format.js";
import { ListEntries } from "./list_entries.js";
import { NamedForm } from "./named_value_form.js";
import { here } from "../core/router.js";

const KINDS = [
  {
    kind: "list",
    path: "/lists",
    title: "Lists",
    fresh: "New list",
    none: "There are no lists yet.",
    shown: (item) => counted(item.size, "value"),
  },
  {
    kind: "parameter",
    path: "/parameters",
    title: "Parameters",
    fresh: "New parameter",
    none: "There are no parameters yet.",
    shown: (item) => decimal(item.value),
  },
];
const AGAIN_MS = 5000;

export class ListsView {
  constructor() {
    this.readAt = 0;
    this.panels = KINDS.map((kind) =>
      new Panel(kind, (item) => this.edit(kind, item), (item) => this.look(item))
    );
    byId("lists").append(
      element(
        "div",
        { class: "stack" },
        element(
          "p",
          { class: "muted" },
          `Rules name these. A change counts for ${MANY} from then on, and makes no new version of a rule.`,
        ),
        this.panels.map((panel) => panel.element),
      ),
    );
  }

  forget() {
    for (const panel of this.panels) panel.forget();
  }

  open() {
    for (const panel of this.panels) panel.allow(session.may("rules:write"));
    this.read();
  }

  read() {
    this.readAt = Date.now();
    for (const panel of this.panels) panel.read();
  }

  /** Others change them too. */
  tick(now) {
    if (here().view === "lists" && !document.hidden && now - this.readAt >= AGAIN_MS) this.read();
  }

  edit({ kind, path }, item) {
    const form = new NamedForm(kind, path, item, () => {
      byId("rule-dialog").close();
      this.read();
    });
    show(item ? `Change the ${kind} ${item.name}` : `New ${kind}`, form);
  }

  look(item) {
    const entries = new ListEntries(item, session.may("rules:write"), () => this.read());
    show(`Entries of the list ${item.name}`, entries);
  }
}

function show(title, content) {
  setText(byId("rule-dialog-title"), title);
  byId("rule-dialog-body").replaceChildren(content.element);
  byId("rule-dialog").showModal();
  content.focus();
}

/** All lists, or all parameters. */
class Panel {
  /** `look(item)` shows the entries of a list. */
  constructor(kind, edit, look) {
    Object.assign(this, { kind, edit, look });
    this.rows = new Map();
    this.list = element("ul", { class: "named", "aria-label": kind.title });
    this.empty = element("p", { class: "empty" });
    this.fresh = button(kind.fresh, () => edit(null), { kind: "primary" });
    this.element = element(
      "section",
      { class: "panel", "aria-label": kind.title },
      element("div", { class: "panel-head" }, element("h1", {}, kind.title), this.fresh),
      this.list,
      this.empty,
    );
  }

  forget() {
    this.rows.clear();
    arrange(this.list, []);
    setText(this.empty, "");
  }

  allow(may) {
    this.may = may;
    this.fresh.hidden = !may;
  }

  async read() {
    const { token } = session;
    try {
      const items = await registryItems(this.kind.path);
      if (token === session.token) this.take(items);
    } catch (error) {
      if (token === session.token) this.say(`They cannot be read now: ${error.message}`);
    }
  }

  take(items) {
    const kept = new Map();
    for (const item of items) {
      const shown = JSON.stringify([item, this.may]);
      const old = this.rows.get(item.name);
      kept.set(item.name, old?.shown === shown ? old : { shown, element: this.row(item) });
    }
    this.rows = kept;
    arrange(this.list, [...kept.values()].map((row) => row.element));
    this.say(items.length ? "" : this.kind.none);
  }

  say(text) {
    setText(this.empty, text);
    this.empty.hidden = text === "";
  }

  row(item) {
    return element(
      "li",
      { class: "named-row" },
      element(
        "div",
        {},
        element("b", { class: "named-name" }, item.name),
        " ",
        element("span", { class: "tag" }, this.kind.shown(item)),
        element(
          "p",
          { class: "muted small", title: fullTime(item.changedAt) },
          `version ${item.version}, by ${item.changedBy}, ${timeOfDay(item.changedAt)}`,
        ),
      ),
      element(
        "div",
        { class: "named-acts" },
        this.kind.kind === "list" &&
          button("Entries", () => this.look(item), { "aria-label": `Entries: ${item.name}` }),
        button("Change", () => this.edit(item), { hidden: !this.may, "aria-label": `Change: ${item.name}` }),
      ),
    );
  }
}
