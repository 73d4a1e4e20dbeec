// The conditions of a chained rule as forms in groups; what these have no place for is written as JSON.

import { asGroup, ConditionGroup } from "./condition_group.js";
import { element, labelled } from "../core/dom.js";
import { FIRST_CONDITION } from "./rule_templates.js";
import { TreeForm } from "./tree_form.js";

const MOST = 16;
/** From a part of the tree to one in it. */
const STEP = /^\.(?:(all|any|weighted)\[(\d+)\]|(?:not|of)(?=\.|$))/;

export class ConditionsForm extends TreeForm {
  constructor() {
    super({
      id: "conditions-json",
      rows: 16,
      what: "The conditions are",
      fits: (tree) => asGroup(tree) !== null,
      words: ["Write the conditions as JSON", "Write the conditions in the form"],
    });
    this.byForm = element("div", {});
    this.byText = element(
      "div",
      {},
      labelled(
        "Conditions as JSON",
        this.text,
        "all, any, not over conditions with groupingKeyNames, aggregatorFunctionType, " +
          "aggregateFieldName, limitOperatorType, limit, windowSeconds, filter; weights: " +
          '{"weighted": [{"weight": "30", "of": \u2026}], "atLeast": "60"}',
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
    this.write(null);
  }

  /** Shows a tree; null for a rule that has none yet. */
  write(tree) {
    const group = asGroup(tree ?? FIRST_CONDITION);
    this.show(group === null);
    this.text.value = group === null ? JSON.stringify(tree, null, 2) : "";
    if (group === null) return;
    this.root = new ConditionGroup(group, { onResize: () => this.resized() });
    this.byForm.replaceChildren(this.root.element);
    this.number();
  }

  /** The tree as the registry takes it. Throws a sentence where there is none. */
  read() {
    return this.json ? this.readText() : this.root.read();
  }

  resized() {
    this.number();
    this.element.dispatchEvent(new Event("change", { bubbles: true }));
  }

  number() {
    this.root.open(this.root.number(1) <= MOST);
  }

  /** What cannot even be sent: `[{field, message}]`, the fields as the registry would name them. */
  problems() {
    return this.json ? [] : this.root.problems("conditions");
  }

  /** Where to say what is wrong with a member of a condition; null for everything else. */
  place(path) {
    if (this.json || !path.startsWith("conditions")) return null;
    const steps = [];
    let rest = path.slice("conditions".length);
    for (let step; (step = STEP.exec(rest)); rest = rest.slice(step[0].length)) {
      if (step[1]) steps.push([step[1], Number(step[2])]);
    }
    return /^\.[a-z]/i.test(rest) ? this.root.place(steps, rest.slice(1)) : null;
  }
}
