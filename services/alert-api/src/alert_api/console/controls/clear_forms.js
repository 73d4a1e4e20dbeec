// Which rule is to forget, and of CLEAR_GROUP which of its groups.

import { groupInWords } from "./command_texts.js";
import { choice, element, labelled, setText } from "../core/dom.js";
import { capital, groupingOf, MANY } from "../core/event_type.js";
import { fieldName } from "../core/format.js";
import { feeds } from "../core/pipeline.js";
import { bucketSeconds } from "../words/precision.js";

export class ClearRuleForm {
  /** The ids of its controls begin with `id`. */
  constructor(id) {
    this.rule = choice([["", "Choose a rule"]], { id: `${id}-rule`, on: { change: () => this.adapt() } });
    this.element = element(
      "div",
      { class: "command-form" },
      element("div", { class: "across", dataset: { field: "ruleId" } }, labelled("Rule", this.rule)),
    );
    feeds.rules.listen((feed) => this.offer(feed.data ?? []));
  }

  /** Rebuilt only when the rules changed, as an open list would close. */
  offer(rules) {
    const shown = JSON.stringify(rules.map((rule) => [rule.ruleId, rule.name, rule.version]));
    if (this.shown === shown) return;
    this.shown = shown;
    const chosen = this.rule.value;
    this.rule.replaceChildren(
      element("option", { value: "" }, "Choose a rule"),
      ...rules.map((rule) => {
        const why = this.unfit(rule.definition);
        return element(
          "option",
          { value: rule.ruleId, disabled: why !== null },
          `${rule.name}${why ? ` (${why})` : ""}`,
        );
      }),
    );
    if (rules.some((rule) => String(rule.ruleId) === chosen)) this.rule.value = chosen;
    this.adapt();
  }

  /** Why the command is not for such a rule; null where it is. */
  unfit() {
    return null;
  }

  adapt() {}

  chosen() {
    return feeds.rules.data?.find((rule) => String(rule.ruleId) === this.rule.value) ?? null;
  }

  problems() {
    return this.chosen() ? [] : [{ field: "ruleId", message: "Choose a rule." }];
  }

  read() {
    return { ruleId: Number(this.rule.value) };
  }

  inWords() {
    return `\u201c${this.chosen().name}\u201d.`;
  }
}

export class ClearGroupForm extends ClearRuleForm {
  constructor(id) {
    super(id);
    this.id = id;
    this.fields = new Map();
    this.group = element("div", { class: "command-form across", dataset: { field: "group" } });
    this.element.append(this.group);
  }

  unfit(definition) {
    if (definition.conditions) return "several conditions";
    if (definition.groupingKeyNames.some((key) => key.field !== undefined)) return "in steps";
    return bucketSeconds(definition.precision) === null ? null : "bucketed";
  }

  /** A field for each that the rule groups by, a party too; what was typed stays where the rule has it. */
  adapt() {
    const names = this.chosen()?.definition.groupingKeyNames ?? [];
    if (JSON.stringify([...this.fields.keys()]) !== JSON.stringify(names)) {
      this.fields = new Map(names.map((name) => [name, this.fields.get(name) ?? this.field(name)]));
      this.group.replaceChildren(
        ...names.map((name) =>
          element(
            "div",
            { dataset: { field: `group.${name}` } },
            labelled(capital(fieldName(name)), this.fields.get(name)),
          )
        ),
      );
    }
    if (!names.length) setText(this.group, this.chosen() ? `It has one group: all ${MANY}.` : "");
  }

  field(name) {
    const id = `${this.id}-${name}`;
    const { kind, values } = groupingOf(name);
    return kind === "enum"
      ? choice([["", "\u2026"], ...values.map((value) => [value, value])], { id })
      : element("input", { id, autocomplete: "off", maxlength: 64 });
  }

  problems() {
    const empty = [...this.fields].filter(([, input]) => input.value === "");
    return [
      ...super.problems(),
      ...empty.map(([name]) => ({ field: `group.${name}`, message: `Give the ${fieldName(name)}.` })),
    ];
  }

  read() {
    const value = (
      name,
      text,
    ) => (groupingOf(name).kind === "decimal" ? text.trim().replaceAll(",", "") : text);
    return {
      ...super.read(),
      group: Object.fromEntries([...this.fields].map(([name, input]) => [name, value(name, input.value)])),
    };
  }

  inWords() {
    return `${super.inWords().slice(0, -1)}, ${groupInWords(this.read().group)}.`;
  }
}
