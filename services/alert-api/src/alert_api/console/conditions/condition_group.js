// A part of a chained rule's conditions: all, any, or weights, over conditions and over further such parts.

import { ConditionForm, fitsForm } from "./condition_form.js";
import { button, choice, element } from "../core/dom.js";
import { fitsNumber, NumberInput } from "./number_input.js";
import { FIRST_CONDITION } from "./rule_templates.js";

const JOINTS = [["all", "all of these hold"], ["any", "one of these holds"], [
  "weighted",
  "the weights of those that hold add up",
]];
/** Levels of groups: the registry takes six with the condition, and a `not` is one of them. */
const DEEPEST = 5;

export class ConditionGroup {
  /** `tree` fits; `onResize` is called where conditions come or go; the rule's whole has no `onRemove`. */
  constructor(tree, { negated = false, depth = 1, onRemove = null, onResize }) {
    Object.assign(this, { depth, onResize, operands: [] });
    const whole = onRemove === null;
    this.not = element("input", { type: "checkbox", checked: negated });
    this.joint = choice(JOINTS, {
      "aria-label": whole ? "The rule holds where" : "The group holds where",
      on: { change: () => this.adapt() },
    });
    this.least = new NumberInput("atLeast", "The weights add up to at least", tree.atLeast ?? "");
    this.list = element("div", { class: "condition-cards" });
    this.more = button(
      whole ? "Add a condition to the rule" : "Add a condition to the group",
      () => this.grow(FIRST_CONDITION),
    );
    this.deeper = button(
      whole ? "Add a group to the rule" : "Add a group to the group",
      () => this.grow({ any: [FIRST_CONDITION] }),
    );
    this.needed = element("span", { class: "needed" }, " to at least ", this.least.element);
    const head = element(
      "div",
      { class: "field-name group-head" },
      whole ? "The rule holds where " : "The group holds where ",
      this.joint,
      this.needed,
    );
    this.element = whole ? this.whole(head) : this.part(head, onRemove);
    const joint = jointOf(tree);
    this.joint.value = joint;
    for (const item of tree[joint]) {
      this.add(joint === "weighted" ? item.of : item, joint === "weighted" ? item.weight : "");
    }
    this.adapt();
  }

  whole(head) {
    return element("div", { class: "condition-cards" }, head, this.list, this.buttons());
  }

  part(head, onRemove) {
    return element(
      "fieldset",
      { class: "group condition-group" },
      this.legend = element("legend", {}, "Group"),
      element(
        "div",
        { class: "condition-head" },
        element("label", { class: "check" }, this.not, " not: the rule wants it not to hold"),
        button("Remove", onRemove, { "aria-label": "Remove this group of conditions" }),
      ),
      head,
      this.list,
      this.buttons(),
    );
  }

  buttons() {
    if (this.depth >= DEEPEST) this.deeper.hidden = true;
    return element("div", { class: "condition-more" }, this.more, this.deeper);
  }

  /** Weights are there where they count. */
  adapt() {
    const weighted = this.joint.value === "weighted";
    this.needed.hidden = !weighted;
    for (const { share } of this.operands) share.hidden = !weighted;
  }

  grow(tree) {
    const form = this.add(tree, "");
    this.adapt();
    this.onResize();
    form.element.querySelector("input, select")?.focus();
  }

  add(tree, weightThen) {
    const { negated, inner } = unwrapped(tree);
    const weight = new NumberInput("weight", "Weight", weightThen);
    const remove = () => {
      this.operands = this.operands.filter((other) => other !== operand);
      operand.row.remove();
      this.onResize();
    };
    const form = fitsForm(inner) ? new ConditionForm(inner, negated, remove) : new ConditionGroup(inner, {
      negated,
      depth: this.depth + 1,
      onRemove: remove,
      onResize: this.onResize,
    });
    const share = element("div", { class: "share" }, element("span", {}, "Weight"), weight.element);
    const row = element("div", { class: "operand" }, share, form.element);
    const operand = { form, weight, share, row };
    this.operands.push(operand);
    this.list.append(row);
    return form;
  }

  /** Numbers its conditions from there on, in the order of the tree; tells what comes next. */
  number(next) {
    for (const { form } of this.operands) {
      if (form instanceof ConditionGroup) next = form.number(next);
      else form.number(next++);
    }
    return next;
  }

  /** Whether there is room for more. */
  open(more) {
    this.more.disabled = this.deeper.disabled = !more;
    for (const { form } of this.operands) if (form instanceof ConditionGroup) form.open(more);
  }

  get isWeighted() {
    return this.joint.value === "weighted";
  }

  /** The tree as the registry takes it; what joins a single one is left out. */
  read() {
    const read = this.operands.map(({ form }) => form.read());
    const tree = this.isWeighted
      ? {
        weighted: this.operands.map(({ weight }, index) => ({ weight: weight.read(), of: read[index] })),
        atLeast: this.least.read(),
      }
      : read.length === 1
      ? read[0]
      : { [this.joint.value]: read };
    return this.not.checked ? { not: tree } : tree;
  }

  /** What cannot even be sent: `[{field, message}]`, the fields as the registry would name them. */
  problems(path) {
    if (this.operands.length === 0) return [{ field: path, message: "Add a condition." }];
    const inside = this.operands.flatMap(({ form, weight }, index) => {
      const below = this.pathOf(path, index);
      const inner = this.isWeighted ? `${below}.of` : below;
      const wrong = form instanceof ConditionGroup
        ? form.problems(inner)
        : form.problems().map(({ field, message }) => ({ field: `${inner}.${field}`, message }));
      return this.isWeighted ? [...weight.problems(below), ...wrong] : wrong;
    });
    return this.isWeighted ? [...this.least.problems(path), ...inside] : inside;
  }

  pathOf(path, index) {
    return this.isSingle ? path : `${path}.${this.joint.value}[${index}]`;
  }

  get isSingle() {
    return !this.isWeighted && this.operands.length === 1;
  }

  /** The part of the form that the steps lead to, `[word, index]` each, for the path on from there; null for none. */
  place(steps, path) {
    const index = this.isSingle ? 0 : steps[0]?.[1];
    const rest = this.isSingle ? steps : steps.slice(1);
    if (index === undefined) return path === "atLeast" ? this.least.element : null;
    const operand = this.operands[index];
    if (path === "weight" && rest.length === 0) return operand?.weight.element ?? null;
    return operand?.form.place(...(operand.form instanceof ConditionGroup ? [rest, path] : [path])) ?? null;
  }
}

function unwrapped(tree) {
  const negated = tree?.not !== undefined && Object.keys(tree).length === 1;
  return { negated, inner: negated ? tree.not : tree };
}

/** The tree as one group, or null where the form has no place for all of it. */
export function asGroup(tree) {
  if (!fitsTree(tree)) return null;
  return isGroup(tree) ? tree : { all: [tree] };
}

function fitsTree(tree, depth = 1) {
  const { inner } = unwrapped(tree);
  if (fitsForm(inner)) return true;
  return depth <= DEEPEST && isGroup(inner) &&
    Object.entries(inner).every(([word, items]) =>
      word === "atLeast" ||
      items.every((item) =>
        word !== "weighted"
          ? fitsTree(item, depth + 1)
          : Object.keys(item ?? {}).length === 2 && fitsNumber(item.weight) && fitsTree(item.of, depth + 1)
      )
    );
}

function isGroup(tree) {
  const joint = jointOf(tree);
  if (joint === undefined || !Array.isArray(tree[joint]) || tree[joint].length === 0) return false;
  const members = Object.keys(tree).length;
  return joint === "weighted" ? members === 2 && fitsNumber(tree.atLeast) : members === 1;
}

/** The database has its own order of members. */
function jointOf(tree) {
  return JOINTS.map(([word]) => word).find((word) => tree?.[word] !== undefined);
}
