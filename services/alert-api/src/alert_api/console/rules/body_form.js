// What a rule measures and of which transactions, in the shape that it has: one condition, several, or what no
// form has a place for as JSON, so that nothing of it is lost.

import { ConditionsForm } from "../conditions/conditions_form.js";
import { choice, element, labelled, setText } from "../core/dom.js";
import { MANY } from "../core/event_type.js";
import { FilterForm } from "../conditions/filter_form.js";
import { fitsMeasure, MeasureForm } from "../conditions/measure_form.js";
import { BLANK } from "../conditions/rule_templates.js";

const SHAPES = [
  ["one", "one condition"],
  ["several", "several conditions, or one against a baseline"],
  ["text", "written as JSON"],
];
/** What other parts of the form of a rule have a place for. */
const ELSEWHERE = [
  "name",
  "effectiveFrom",
  "effectiveUntil",
  "precision",
  "firing",
  "lateEvents",
  "resetOnAlert",
  "cooldownSeconds",
];

export class BodyForm {
  constructor() {
    this.shape = choice(SHAPES, { id: "rule-shape", on: { change: () => this.turn() } });
    this.measure = new MeasureForm("rule", { hint: `Nothing chosen: one group of all ${MANY}.` });
    this.conditions = new ConditionsForm();
    this.filter = new FilterForm();
    this.text = element("textarea", { rows: 16, class: "mono", spellcheck: "false", id: "rule-json" });
    this.byText = element(
      "div",
      {},
      labelled("What it measures, as JSON", this.text, "Conditions or one condition, and the filter."),
    );
    this.stays = element("p", { class: "hint", role: "status" });
    this.byText.append(this.stays);
    this.part = element("div", {});
    this.element = element("div", { class: "measure-form" }, labelled("The rule is", this.shape), this.part);
    this.shown = null;
  }

  write(definition) {
    const body = without(definition, ELSEWHERE);
    this.conditions.write(body.conditions ?? null);
    this.filter.write(body.filter ?? null);
    // What a chained rule has not is there in case it becomes a plain one.
    this.measure.write(body.conditions || !fitsOne(body) ? BLANK : body);
    this.text.value = JSON.stringify(body, null, 2);
    this.show(shapeOf(body) ?? "text");
  }

  /** Only what belongs to the shape is in the form; the other is kept for those who change their mind. */
  show(shape) {
    if (shape !== this.shown) setText(this.stays, "");
    this.shown = this.shape.value = shape;
    this.part.replaceChildren(
      { one: this.measure.element, several: this.conditions.element, text: this.byText }[shape],
    );
    this.filter.element.hidden = shape === "text";
  }

  /** Another shape is chosen: what is written as JSON goes into the form that has a place for it. */
  turn() {
    const shape = this.shape.value;
    const body = this.peek();
    if (this.shown !== "text") {
      if (shape === "text" && body !== null) this.text.value = JSON.stringify(body, null, 2);
      return this.show(shape);
    }
    if (body !== null && shapeOf(body) === shape) return this.write(body);
    setText(this.stays, "That form has no place for all that is written here.");
    return this.show("text");
  }

  /** A limit or a window that was tried, in place of its own. */
  take(member, value) {
    if (this.shown === "one") return this.measure.take(member, value);
    const body = without(this.peek() ?? {}, member === "windowSeconds" ? ["windowMinutes"] : []);
    this.text.value = JSON.stringify({ ...body, [member]: value }, null, 2);
    return this.text.focus();
  }

  /** Its part of the definition as the registry takes it. Throws a sentence where there is none. */
  read() {
    if (this.shown === "text") return JSON.parse(this.text.value);
    const filter = this.filter.read();
    return {
      ...(this.shown === "several" ? { conditions: this.conditions.read() } : this.measure.read()),
      ...(filter === null ? {} : { filter }),
    };
  }

  /** What cannot even be sent: `[{field, message}]`. */
  problems() {
    if (this.shown !== "text") return this[this.shown === "several" ? "conditions" : "measure"].problems();
    try {
      const body = this.read();
      if (typeof body === "object" && body !== null && !Array.isArray(body)) return [];
      return [{ field: "definition", message: "Give an object." }];
    } catch (error) {
      return [{ field: "definition", message: `It is not JSON: ${error.message}` }];
    }
  }

  get isChained() {
    return this.shown === "several" || (this.shown === "text" && Boolean(this.peek()?.conditions));
  }

  /** The aggregate of a rule of one condition; null of another. */
  get aggregate() {
    if (this.isChained) return null;
    return this.shown === "one" ? this.measure.kind.value : this.peek()?.aggregatorFunctionType ?? null;
  }

  peek() {
    try {
      return this.read();
    } catch {
      return null;
    }
  }

  /** Where to say what is wrong with a member; null for what is said elsewhere. */
  place(field) {
    if (this.shown === "text") return field === "definition" ? this.byText : null;
    if (this.shown === "several") return this.conditions.place(field);
    return this.measure.place(field.replace(/^windowMinutes\b/, "windowSeconds"));
  }
}

/** The shape whose form has a place for all of it; null for none. */
export function shapeOf(body) {
  if (!body.conditions) return fitsOne(body) ? "one" : null;
  return Object.keys(without(body, ["conditions", "filter"])).length === 0 ? "several" : null;
}

function fitsOne(body) {
  return typeof (body.filter ?? null) === "object" && fitsMeasure(without(body, ["filter", "conditions"]));
}

function without(object, names) {
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) =>
      !names.includes(name) && (value !== null || name === "aggregateFieldName")
    ),
  );
}
