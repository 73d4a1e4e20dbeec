// The form for a rule's whole definition, new or changed.

import { tell } from "../core/approval.js";
import { Problem, registry } from "../core/client.js";
import { BodyForm } from "./body_form.js";
import { inWords } from "../words/definition.js";
import { BacktestTrial } from "./backtest_trial.js";
import { element, form, labelled, setText } from "../core/dom.js";
import { markFields } from "../core/field_errors.js";
import { FiringForm } from "./firing_form.js";
import { knownNames } from "../conditions/name_suggestions.js";
import { PrecisionForm } from "./precision_form.js";
import { BLANK, TEMPLATES } from "../conditions/rule_templates.js";
import { warningList, warningsOf } from "./rule_warnings.js";
import { TemplateChoice } from "./template_choice.js";

export class RuleForm {
  /**
   * `rule` is null for a new one; `onDone(rule)` is called with what the registry made of it. A draft is a rule
   * that is saved at a `path` of its own, as the next one after the revision `version`; `said(answer)` are the words
   * for what came of it.
   */
  constructor(
    rule,
    onDone,
    { path = null, method = "PUT", version = null, go = "Publish the new version", said = saved } = {},
  ) {
    Object.assign(this, { rule, onDone, path, method, version, said });
    this.name = element("input", { id: "rule-name", maxlength: 200, required: true, autocomplete: "off" });
    this.body = new BodyForm();
    this.precision = new PrecisionForm();
    this.firing = new FiringForm();
    this.reason = element("input", { id: "rule-reason", maxlength: 500, autocomplete: "off" });
    this.words = element("p", { class: "rule-words" });
    this.error = element("p", { class: "error", role: "alert" });
    this.warnings = element("div", { role: "status" });
    this.trial = new BacktestTrial(() => this.draft(), rule?.ruleId ?? null, (member, value) => {
      this.body.take(member, value);
      this.changed();
    });
    this.seen = null;
    this.verb = rule ? go : "Publish";
    this.go = element("button", { class: "primary", type: "submit", id: "rule-publish" }, this.verb);
    this.element = this.build();
    this.write(
      rule ? { ...rule.definition, name: rule.name, effectiveUntil: rule.effectiveUntil } : BLANK,
    );
  }

  build() {
    return form(
      () => this.send(),
      { class: "rule-form", on: { input: () => this.changed(), change: () => this.changed() } },
      this.rule || !TEMPLATES.length
        ? null
        : new TemplateChoice((definition) => this.write(definition ?? BLANK)).element,
      at("name", labelled("Name", this.name)),
      this.body.element,
      this.precision.element,
      this.body.filter.element,
      this.firing.element,
      knownNames(),
      labelled(
        "Reason",
        this.reason,
        "It stands in the history and in the audit trail, and may be left open.",
      ),
      this.words,
      this.trial.element,
      this.warnings,
      this.error,
      element("div", { class: "dialog-end" }, this.go),
    );
  }

  write(definition) {
    this.name.value = definition.name;
    this.body.write(definition);
    this.precision.write(definition);
    this.firing.write(definition);
    this.say();
  }

  /** The definition as the registry takes it. What says nothing is left out. */
  read() {
    return { ...this.body.read(), ...this.precision.read(), ...this.firing.read() };
  }

  /** What cannot even be sent of what the shape has. */
  problems() {
    return [...this.body.problems(), ...this.precision.problems()];
  }

  say() {
    this.firing.ofSeveral(this.body.isChained);
    this.firing.ofAggregate(this.body.aggregate);
    try {
      const definition = this.read();
      setText(this.words, this.problems().length ? "" : inWords(definition));
    } catch {
      setText(this.words, "");
    }
  }

  /** The draft as it stands, for a trial: null where something is wrong, which is said. */
  draft() {
    const wrong = [...this.problems(), ...this.firing.problems()];
    this.mark(wrong);
    const name = this.name.value.trim();
    return wrong.length ? null : { ...(name ? { name } : {}), ...this.read() };
  }

  async send() {
    this.mark([]);
    const nameless = this.name.value.trim() ? [] : [{ field: "name", message: "Give the rule a name." }];
    const wrong = [...nameless, ...this.problems(), ...this.firing.problems()];
    if (wrong.length) return this.mark(wrong);
    this.go.disabled = true;
    try {
      const effectiveFrom = this.firing.effectiveFrom();
      const effectiveUntil = this.firing.effectiveUntil();
      const body = {
        name: this.name.value.trim(),
        ...this.read(),
        ...(effectiveFrom === null ? {} : { effectiveFrom }),
        ...(effectiveUntil === null ? {} : { effectiveUntil }),
      };
      if (await this.warns(body)) return undefined;
      const answer = await this.ask(body);
      tell(
        answer,
        this.path
          ? this.said(answer)
          : `Published as version ${answer.body.version}. The engine takes it in a moment.`,
      );
      this.onDone(answer.body);
    } catch (error) {
      if (error instanceof Problem && error.body.errors?.length) this.mark(error.body.errors);
      else if (error instanceof Problem && error.status === 412) {
        setText(
          this.error,
          "Somebody else changed this rule meanwhile. Close, look at it, and change it again.",
        );
      } else setText(this.error, error.message);
    } finally {
      this.go.disabled = false;
    }
    return undefined;
  }

  changed() {
    this.say();
    this.seen = null;
    this.warnings.replaceChildren();
    setText(this.go, this.verb);
  }

  /** Whether there are warnings that have not been shown of this very body; it shows them. */
  async warns(body) {
    const text = JSON.stringify(body);
    if (this.seen === text) return false;
    const warnings = await warningsOf(body, this.rule?.ruleId ?? null);
    this.warnings.replaceChildren(...[warningList(warnings)].filter(Boolean));
    this.seen = text;
    setText(this.go, warnings.length ? `${this.verb} all the same` : this.verb);
    return warnings.length > 0;
  }

  ask(body) {
    const reason = this.reason.value.trim();
    const why = reason ? `?reason=${encodeURIComponent(reason)}` : "";
    if (this.path) {
      return registry(`${this.path}${why}`, { method: this.method, body, version: this.version });
    }
    if (this.rule === null) return registry(`/rules${why}`, { method: "POST", body });
    const path = `/rules/${this.rule.ruleId}${why}`;
    return registry(path, { method: "PUT", body, version: this.rule.version });
  }

  /** Says at each field what is wrong with it; what has no field here is said at the end. */
  mark(errors) {
    setText(this.error, markFields(this.element, errors, (field) => this.place(field)).join(" "));
  }

  place(field) {
    const name = field.split(/[.[]/)[0];
    const parts = [...this.element.querySelectorAll(`[data-field="${CSS.escape(name)}"]`)];
    return this.body.place(field) ?? parts.find((part) => !part.hidden && !part.closest(".condition-card"));
  }
}

function saved(answer) {
  return `Saved as revision ${answer.body.revision}.`;
}

function at(field, node) {
  return element("div", { dataset: { field } }, node);
}
