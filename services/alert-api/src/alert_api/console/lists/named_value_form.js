// The form for the values of a list, one on each line, or for the number of a parameter.

import { tell } from "../core/approval.js";
import { Problem, registry } from "../core/client.js";
import { element, form, labelled, setText } from "../core/dom.js";
import { MANY } from "../core/event_type.js";
import { counted } from "../core/format.js";

const STALE = "Somebody else changed it meanwhile. Close, look at it, and change it again.";
const TAKEN = "There is one of that name already.";

export class NamedForm {
  /** `item` is null for a new one; `onDone()` is called once it is saved. */
  constructor(kind, path, item, onDone) {
    Object.assign(this, { kind, path, item, onDone });
    this.known = new Set();
    this.name = element("input", {
      id: "named-name",
      class: "mono",
      maxlength: 64,
      autocomplete: "off",
      spellcheck: "false",
      disabled: item !== null,
    });
    this.name.value = item?.name ?? "";
    this.value = kind === "list"
      ? element("textarea", {
        id: "named-value",
        class: "mono",
        rows: 14,
        spellcheck: "false",
        autocomplete: "off",
        on: { input: () => this.count() },
      })
      : element("input", { id: "named-value", inputmode: "decimal", autocomplete: "off" });
    this.counted = element("p", { class: "hint", role: "status" });
    this.error = element("p", { class: "error", role: "alert" });
    this.go = element("button", { class: "primary", type: "submit" }, "Save");
    this.element = form(
      () => this.send(),
      { class: "rule-form" },
      labelled(
        "Name",
        this.name,
        item ? null : "Letters, digits, _ and -, a letter first. It cannot be changed later, nor deleted.",
      ),
      labelled(kind === "list" ? "Values, one on each line" : "Value", this.value),
      this.counted,
      this.error,
      element("div", { class: "dialog-end" }, this.go),
    );
    if (kind === "parameter") this.value.value = item?.value ?? "";
    else if (item) this.load();
    else this.count();
  }

  focus() {
    (this.item ? this.value : this.name).focus();
  }

  /** A listing tells how many values there are; the list itself is read when it is to be changed. */
  async load() {
    this.go.disabled = this.value.disabled = true;
    try {
      const { body } = await registry(`${this.path}/${this.item.name}`);
      this.item = body;
      if (!body.values) {
        return setText(
          this.error,
          `It has ${counted(body.size, "value")}, too many to be changed as a whole.`,
        );
      }
      this.known = new Set(body.values);
      if (body.values.some((value) => /[\r\n]/.test(value))) {
        return setText(this.error, "Some of its values have line breaks: change it by way of the API.");
      }
      this.value.value = body.values.join("\n");
      this.go.disabled = this.value.disabled = false;
      this.count();
      this.value.focus();
    } catch (error) {
      setText(this.error, error.message);
    }
    return undefined;
  }

  /** Spaces around a value come from pasting, unless the list has the value so. */
  values() {
    const lines = this.value.value.split("\n").map((line) => (this.known.has(line) ? line : line.trim()));
    return [...new Set(lines.filter(Boolean))];
  }

  count() {
    setText(this.counted, counted(this.values().length, "value"));
  }

  async send() {
    setText(this.error, "");
    const name = this.name.value.trim();
    if (!name) return setText(this.error, "Give it a name.");
    // the address takes no other characters
    if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(name)) {
      return setText(this.error, "A name has letters, digits, _ and -, a letter first.");
    }
    this.go.disabled = true;
    try {
      const body = this.kind === "list"
        ? { values: this.values() }
        : { value: this.value.value.trim().replaceAll(",", "") };
      const answer = await registry(`${this.path}/${name}`, {
        method: "PUT",
        body,
        version: this.item?.version ?? 0,
      });
      tell(answer, `Saved as version ${answer.body.version}. It counts for ${MANY} from now on.`);
      this.onDone();
    } catch (error) {
      setText(this.error, this.refusal(error));
    } finally {
      this.go.disabled = false;
    }
    return undefined;
  }

  refusal(error) {
    if (!(error instanceof Problem)) return error.message;
    if (error.status === 412) return this.item ? STALE : TAKEN;
    return error.body.errors?.map(({ message }) => message).join(" ") ?? error.message;
  }
}
