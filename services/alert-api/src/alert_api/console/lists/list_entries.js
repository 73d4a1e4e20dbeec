// The entries of one list: a page of them at a time, found by how they begin; some are added or removed.

import { tell } from "../core/approval.js";
import { Problem, registry } from "../core/client.js";
import { button, element, form, labelled, setText } from "../core/dom.js";
import { MANY } from "../core/event_type.js";
import { counted, fullTime } from "../core/format.js";

const PAGE = 50;
const SEARCH_MS = 250;

export class ListEntries {
  /** `may`: whether the key may change them; `onChange()` is called when they have. */
  constructor(item, may, onChange) {
    Object.assign(this, { path: `/lists/${item.name}`, may, onChange });
    this.asked = 0;
    this.prefix = element("input", {
      id: "entry-prefix",
      class: "mono",
      type: "search",
      maxlength: 64,
      autocomplete: "off",
      spellcheck: "false",
      on: { input: () => this.searchSoon() },
    });
    this.list = element("ul", { class: "entries", "aria-label": "Entries" });
    this.status = element("p", { class: "hint", role: "status" });
    this.error = element("p", { class: "error", role: "alert" });
    this.more = button("More", () => this.read(this.next), { hidden: true });
    this.element = element(
      "div",
      { class: "rule-form" },
      labelled("Begins with", this.prefix, "Case counts."),
      this.list,
      this.more,
      this.status,
      may && this.adding(),
      this.error,
    );
    this.read();
  }

  adding() {
    this.values = element("textarea", {
      id: "entry-values",
      class: "mono",
      rows: 3,
      spellcheck: "false",
      autocomplete: "off",
    });
    this.until = element("input", { id: "entry-until", type: "datetime-local", step: 1 });
    this.go = element("button", { class: "primary", type: "submit" }, "Add");
    return form(
      () => this.add(),
      { class: "entry-add", "aria-label": "Add entries" },
      labelled("Add, one on each line", this.values),
      labelled("Until", this.until, "Empty: they stay. In this computer's time."),
      element("div", { class: "dialog-end" }, this.go),
    );
  }

  focus() {
    this.prefix.focus();
  }

  searchSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.read(), SEARCH_MS);
  }

  /** The first page, or with an address the next one below it; what was asked for before that is left out. */
  async read(address = null) {
    const asked = ++this.asked;
    const prefix = this.prefix.value;
    const query = new URLSearchParams({ limit: PAGE, ...(prefix && { prefix }) });
    try {
      const { body, next } = await registry(address ?? `${this.path}/entries?${query}`);
      if (asked !== this.asked) return;
      if (!address) this.list.replaceChildren();
      this.list.append(...body.items.map((entry) => this.row(entry)));
      // The registry names its own address; the way there goes through this service.
      this.next = next && `${this.path}/entries${new URL(next, location.origin).search}`;
      this.more.hidden = !this.next;
      setText(this.status, this.told(prefix));
      setText(this.error, "");
    } catch (error) {
      if (asked === this.asked) setText(this.error, refusal(error));
    }
  }

  told(prefix) {
    const count = this.list.children.length;
    if (!count) return prefix ? "No entry begins so." : "It has no entries.";
    return `${counted(count, "entry", "entries")}${this.next ? ", and more" : ""}`;
  }

  row({ value, until }) {
    return element(
      "li",
      {},
      element("span", { class: "mono entry-value" }, value),
      until && element("span", { class: "tag" }, `until ${fullTime(until)}`),
      this.may &&
        button("Remove", (event) => this.remove(value, event.currentTarget), {
          "aria-label": `Remove: ${value}`,
        }),
    );
  }

  async add() {
    const values = [...new Set(this.values.value.split("\n").map((line) => line.trim()).filter(Boolean))];
    if (!values.length) return setText(this.error, "Give it at least one value.");
    const until = this.until.value ? new Date(this.until.value).getTime() : null;
    if (until !== null && until <= Date.now()) return setText(this.error, "That time has passed already.");
    const entries = values.map((value) => until === null ? { value } : { value, until });
    this.go.disabled = true;
    const done = await this.send(
      "entries",
      { entries },
      (body) => `Added: ${counted(body.added, "entry", "entries")}.`,
    );
    this.go.disabled = false;
    if (done) this.values.value = this.until.value = "";
    return undefined;
  }

  async remove(value, pressed) {
    pressed.disabled = true;
    await this.send("entries/remove", { values: [value] }, () => `Removed: ${value}.`);
    pressed.disabled = false;
  }

  /** Whether it was taken. */
  async send(what, body, said) {
    setText(this.error, "");
    try {
      const answer = await registry(`${this.path}/${what}`, { method: "POST", body });
      tell(answer, `${said(answer.body)} It counts for ${MANY} from now on.`);
      await this.read();
      this.onChange();
      return true;
    } catch (error) {
      setText(this.error, refusal(error));
      return false;
    }
  }
}

function refusal(error) {
  if (!(error instanceof Problem)) return error.message;
  return error.body.errors?.map(({ message }) => message).join(" ") ?? error.message;
}
