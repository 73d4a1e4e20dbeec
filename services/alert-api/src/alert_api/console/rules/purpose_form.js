// The form for what a rule is for. It has a version of its own, and what is saved holds at once.

import { Problem, registry } from "../core/client.js";
import { choice, element, form, labelled, setText, toast } from "../core/dom.js";
import { markFields } from "../core/field_errors.js";
import { SEVERITIES } from "../core/purposes.js";

const STALE = "Somebody else changed it meanwhile. Close, look at it, and change it again.";

export class PurposeForm {
  /** `onDone()` is called once it is saved. */
  constructor(rule, onDone) {
    Object.assign(this, { onDone, path: `/rules/${rule.ruleId}/purpose`, version: null });
    this.fields = {
      severity: choice([["", "not said"], ...SEVERITIES.map((name) => [name, name])], {
        id: "purpose-severity",
      }),
      owner: element("input", { id: "purpose-owner", maxlength: 100, autocomplete: "off" }),
      tags: element("input", { id: "purpose-tags", autocomplete: "off", spellcheck: "false" }),
      playbook: element("input", {
        id: "purpose-playbook",
        type: "url",
        maxlength: 500,
        autocomplete: "off",
        placeholder: "https://\u2026",
      }),
      description: element("textarea", { id: "purpose-description", rows: 6, maxlength: 2000 }),
    };
    this.error = element("p", { class: "error", role: "alert" });
    this.go = element("button", { class: "primary", type: "submit" }, "Save");
    this.element = this.build();
    this.lock(true);
    this.load();
  }

  build() {
    const { severity, owner, tags, playbook, description } = this.fields;
    const rows = {
      severity: labelled("Severity", severity, "How bad it is where the rule is right."),
      owner: labelled("Owner", owner, "Whom to ask: a person or a team."),
      tags: labelled("Tags", tags, "Short words in small letters, with spaces between them."),
      playbook: labelled("Playbook", playbook, "The https address of what to do about an alert."),
      description: labelled("Description", description, "What the rule is after."),
    };
    return form(
      () => this.send(),
      { class: "rule-form" },
      element("p", { class: "muted small" }, "For people only: it changes nothing that the rule does."),
      Object.entries(rows).map(([field, row]) => element("div", { dataset: { field } }, row)),
      this.error,
      element("div", { class: "dialog-end" }, this.go),
    );
  }

  /** What is typed before all is read would be lost. */
  lock(isLocked) {
    for (const field of [...Object.values(this.fields), this.go]) field.disabled = isLocked;
  }

  /** The list has it too, but not its version. */
  async load() {
    try {
      const { body, version } = await registry(this.path);
      this.version = Number(version.replaceAll('"', ""));
      for (const [name, field] of Object.entries(this.fields)) {
        field.value = (name === "tags" ? body.tags.join(" ") : body[name]) ?? "";
      }
      this.lock(false);
      this.fields.severity.focus();
    } catch (error) {
      setText(this.error, `It cannot be read now: ${error.message}`);
    }
  }

  read() {
    const text = (name) => this.fields[name].value.trim() || null;
    const tags = [...new Set((text("tags") ?? "").split(/[\s,]+/).filter(Boolean))];
    return {
      description: text("description"),
      severity: text("severity"),
      tags,
      owner: text("owner"),
      playbook: text("playbook"),
    };
  }

  async send() {
    this.mark([]);
    this.go.disabled = true;
    try {
      await registry(this.path, { method: "PUT", body: this.read(), version: this.version });
      toast("Saved.");
      this.onDone();
    } catch (error) {
      if (error instanceof Problem && error.body.errors?.length) this.mark(error.body.errors);
      else setText(this.error, error instanceof Problem && error.status === 412 ? STALE : error.message);
    } finally {
      this.go.disabled = false;
    }
  }

  mark(errors) {
    const part = (field) => this.element.querySelector(`[data-field="${CSS.escape(field.split(".")[0])}"]`);
    setText(this.error, markFields(this.element, errors, part).join(" "));
  }
}
