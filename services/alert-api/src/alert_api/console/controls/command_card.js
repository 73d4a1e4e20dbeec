// A command as a card: what it does, what it is about, and a button that asks before it is sent.

import { tell } from "../core/approval.js";
import { Problem, registry } from "../core/client.js";
import { confirm } from "../core/confirm.js";
import { button, element, setText } from "../core/dom.js";
import { markFields } from "../core/field_errors.js";
import { feeds } from "../core/pipeline.js";

export class CommandCard {
  /**
   * `form`, where the command is about something, has an `element` with a `data-field` for each member,
   * `read()`, `problems()`
   * and `inWords()`. `onDone` is called when the command was taken.
   */
  constructor(command, onDone, form = null) {
    Object.assign(this, { command, onDone, form });
    this.error = element("p", { class: "error", role: "alert" });
    this.act = button(command.go, () => this.ask(), {
      kind: command.danger ? "danger" : "quiet",
      dataset: { command: command.command },
    });
    this.element = element(
      "li",
      { class: "command" },
      element(
        "div",
        {},
        element("h2", {}, command.title),
        element("p", {}, command.what),
        form?.element,
        this.error,
        element("p", { class: "mono muted" }, command.command),
      ),
      this.act,
    );
  }

  allow(may) {
    this.act.hidden = !may;
    if (this.form) this.form.element.hidden = !may;
  }

  ask() {
    const { command, form } = this;
    this.mark([]);
    const wrong = form?.problems() ?? [];
    if (wrong.length) return this.mark(wrong);
    confirm({
      title: `${command.title}?`,
      what: form ? `${form.inWords()} ${command.what}` : command.what,
      go: command.go,
      danger: command.danger,
      word: command.typed ? command.command : null,
      act: () => this.send({ command: command.command, ...form?.read() }),
    });
    return undefined;
  }

  /** What is wrong with a field is said there; everything else where it was asked. */
  async send(body) {
    let answer;
    try {
      answer = await registry("/control-commands", { method: "POST", body });
    } catch (error) {
      if (!(error instanceof Problem) || !error.body.errors?.length || this.form === null) throw error;
      // after the dialog is gone: it gives the focus back to the button
      setTimeout(() => this.mark(error.body.errors));
      return;
    }
    tell(answer, "Accepted.");
    feeds.rules.hurry();
    this.onDone();
  }

  mark(errors) {
    const marked = (name) => this.element.querySelector(`[data-field="${CSS.escape(name)}"]`);
    const rest = markFields(this.element, errors, (field) => marked(field) ?? marked(field.split(".")[0]));
    setText(this.error, rest.join(" "));
  }
}
