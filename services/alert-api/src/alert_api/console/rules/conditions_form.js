// The conditions of a chained rule as a list of forms under one all or any; a deeper tree is written as JSON.

import { ConditionForm, fitsForm } from "./condition_form.js";
import { button, choice, element, labelled } from "../core/dom.js";
import { FIRST_CONDITION } from "./rule_templates.js";
import { TreeForm } from "./tree_form.js";

const MOST = 16;

export class ConditionsForm extends TreeForm {
  constructor() {
    super({
      id: "conditions-json",
      rows: 16,
      what: "The conditions are",
      fits: (tree) => asCards(tree) !== null,
      words: ["Write the conditions as JSON", "Write the conditions in the form"],
    });
    this.cards = [];
    this.joint = choice([["all", "all of these hold"], ["any", "one of these holds"]], {
      "aria-label": "The rule holds where",
    });
    this.list = element("div", { class: "condition-cards" });
    this.more = button("Add a condition to the rule", () => this.add(FIRST_CONDITION, false));
    this.byForm = element(
      "div",
      { class: "condition-cards" },
      element("p", { class: "field-name" }, "The rule holds where ", this.joint),
      this.list,
      element("div", {}, this.more),
    );
    this.byText = element(
      "div",
      {},
      labelled(
        "Conditions as JSON",
        this.text,
        "all, any, not over conditions with groupingKeyNames, aggregatorFunctionType, " +
          "aggregateFieldName, limitOperatorType, limit, windowSeconds, filter",
      ),
    );
    this.element = element(
      "div",
      { class: "condition-cards", dataset: { field: "conditions" } },
      this.byForm,
      this.byText,
      element("div", { class: "swap" }, this.swap),
      element(
        "p",
        { class: "hint" },
        "All conditions share at least one of the fields that they are grouped by.",
      ),
    );
    this.show(false);
  }

  /** Shows a tree; null for a rule that has none yet. */
  write(tree) {
    const cards = tree === null ? { joint: "all", operands: [FIRST_CONDITION] } : asCards(tree);
    this.cards = [];
    this.list.replaceChildren();
    this.show(cards === null);
    this.text.value = cards === null ? JSON.stringify(tree, null, 2) : "";
    if (cards === null) return;
    this.joint.value = cards.joint;
    for (const operand of cards.operands) this.add(operand.not ?? operand, operand.not !== undefined);
  }

  /** The tree as the registry takes it. Throws a sentence where there is none. */
  read() {
    if (!this.json) {
      const operands = this.cards.map((card) => card.read());
      return operands.length === 1 ? operands[0] : { [this.joint.value]: operands };
    }
    return this.readText();
  }

  add(condition, negated) {
    const card = new ConditionForm(condition, negated, () => this.remove(card));
    this.cards.push(card);
    this.list.append(card.element);
    this.number();
  }

  remove(card) {
    this.cards = this.cards.filter((other) => other !== card);
    card.element.remove();
    this.number();
    this.element.dispatchEvent(new Event("change", { bubbles: true }));
  }

  number() {
    this.cards.forEach((card, index) => card.number(index + 1));
    this.more.disabled = this.cards.length >= MOST;
  }

  /** What cannot even be sent: `[{field, message}]`, the fields as the registry would name them. */
  problems() {
    if (this.json) return [];
    if (this.cards.length === 0) return [{ field: "conditions", message: "Add a condition." }];
    return this.cards.flatMap((card, index) =>
      card.problems().map(({ field, message }) => ({
        field: `conditions.${this.joint.value}[${index}].${field}`,
        message,
      }))
    );
  }

  /** Where to say what is wrong with a member of a condition; null for everything else. */
  place(path) {
    const [, index, member] = /^conditions(?:\.(?:all|any)\[(\d+)\])?(?:\.not)?\.([a-z]\w*)/i.exec(path) ??
      [];
    if (this.json || member === undefined) return null;
    return this.cards[Number(index ?? 0)]?.element.querySelector(`[data-field="${CSS.escape(member)}"]`) ??
      null;
  }
}

/** The tree as `{joint, operands}`, or null where it is more than that. */
function asCards(tree) {
  const simple = (node) =>
    fitsForm(node) || (node?.not !== undefined && Object.keys(node).length === 1 && fitsForm(node.not));
  if (simple(tree)) return { joint: "all", operands: [tree] };
  const [joint, ...rest] = Object.keys(tree ?? {});
  const fits = ["all", "any"].includes(joint) && rest.length === 0 && Array.isArray(tree[joint]) &&
    tree[joint].length > 0 && tree[joint].every(simple);
  return fits ? { joint, operands: tree[joint] } : null;
}
