// Filters of the inbox under names: chips that lead to them. They are kept by the alert API, each for its owner.

import { call, session, SignedOut } from "../core/client.js";
import { button, byId, element, form, labelled, setText, toast } from "../core/dom.js";
import { markField } from "../core/field_errors.js";
import { here } from "../core/router.js";

const DIALOG = "rule-dialog";
const NAME = /^[\p{L}\d][\p{L}\d _-]*$/u;
const TEXTS = ["state", "outcome", "assignee", "subject"];

/** What the address chooses, as the API keeps it. */
export function filterOf(query) {
  const filter = {};
  for (const name of TEXTS) if (query.get(name)) filter[name] = query.get(name);
  const ruleIds = query.getAll("ruleId").map(Number);
  if (ruleIds.length) filter.ruleId = ruleIds;
  return filter;
}

/** The address of what is kept. */
export function addressOf(filter) {
  const query = new URLSearchParams();
  for (const name of TEXTS) if (filter[name]) query.set(name, filter[name]);
  for (const ruleId of filter.ruleId ?? []) query.append("ruleId", ruleId);
  return `/cases${query.size ? `?${query}` : ""}`;
}

export class SavedViews {
  constructor() {
    this.list = element("ul", { class: "saved-list", "aria-label": "Saved views" });
    this.keep = button("Save this view\u2026", () => this.ask(), { id: "save-view" });
    this.element = element("div", { class: "saved-views" }, this.list, this.keep);
    this.forget();
  }

  forget() {
    this.views = [];
    this.token = null;
    this.render();
  }

  /** The address has changed: reads the views once in a session, and marks the one that is shown. */
  async open() {
    this.render();
    const { token } = session;
    if (!token || this.token === token) return;
    this.token = token;
    try {
      await this.read();
    } catch (error) {
      if (!(error instanceof SignedOut)) this.token = null;
    }
  }

  async read() {
    const { token } = session;
    const { body } = await call("/v1/views");
    if (token !== session.token) return;
    this.views = body.items;
    this.render();
  }

  render() {
    const { query } = here();
    const now = addressOf(filterOf(query));
    this.keep.hidden = now === "/cases" || this.views.some((view) => addressOf(view.filter) === now);
    this.list.hidden = this.views.length === 0;
    this.list.replaceChildren(...this.views.map((view) => {
      const address = addressOf(view.filter);
      return element(
        "li",
        { class: "saved-view" },
        element("a", {
          href: address,
          "data-go": true,
          "aria-current": address === now ? "true" : null,
        }, view.name),
        button("\u00d7", () => this.remove(view), {
          "aria-label": `Forget the view ${view.name}`,
          title: "Forget this view",
        }),
      );
    }));
  }

  ask() {
    const filter = filterOf(here().query);
    const name = element("input", {
      id: "view-name",
      maxlength: 40,
      autocomplete: "off",
      spellcheck: "false",
    });
    const body = form(
      () => this.save(name.value.trim(), filter, (text) => markField(body, name, text)),
      { class: "rule-form" },
      labelled(
        "Name",
        name,
        "Under this name you find these filters again, on every computer. Nobody else sees it.",
      ),
      element(
        "div",
        { class: "dialog-end" },
        element("button", { class: "primary", type: "submit" }, "Save"),
      ),
    );
    setText(byId(`${DIALOG}-title`), "Save this view");
    byId(`${DIALOG}-body`).replaceChildren(body);
    byId(DIALOG).showModal();
    name.focus();
  }

  /** `miss(text)` says what is wrong with the name. */
  async save(name, filter, miss) {
    if (!name) return miss("Give it a name.");
    // the address takes no other characters
    if (!NAME.test(name)) {
      return miss("A name has letters, digits, spaces, _ and -, a letter or digit first.");
    }
    try {
      await call(`/v1/views/${encodeURIComponent(name)}`, { method: "PUT", body: { filter } });
    } catch (problem) {
      const told = problem.body?.errors?.map(({ message }) => message).join("; ");
      return miss(told ? `This name or filter cannot be saved: ${told}` : problem.message);
    }
    byId(DIALOG).close();
    toast(`Saved: ${name}.`);
    try {
      await this.read();
    } catch (problem) {
      if (!(problem instanceof SignedOut)) {
        toast(`It is saved; the views cannot be read now: ${problem.message}`);
      }
    }
    return undefined;
  }

  async remove(view) {
    try {
      await call(`/v1/views/${encodeURIComponent(view.name)}`, { method: "DELETE" });
      toast(`Forgotten: ${view.name}.`);
    } catch (error) {
      if (error.status !== 404) return toast(`It is not forgotten: ${error.message}`);
    }
    this.views = this.views.filter((other) => other.name !== view.name);
    this.render();
    this.keep.focus();
    return undefined;
  }
}
