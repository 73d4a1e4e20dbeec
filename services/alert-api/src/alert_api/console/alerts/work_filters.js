// Filters of alerts by amount, and by what people did with the alert's case.

import { session } from "../core/client.js";
import { choice, element } from "../core/dom.js";
import { MEASURES } from "../core/event_type.js";
import { fieldName } from "../core/format.js";
import { OUTCOMES } from "../words/outcomes.js";

const OF_CASES = ["caseState", "outcome", "assignee"];
const AMOUNTS = ["minAmount", "maxAmount"];
/** What these filters are called in the address, and in the API. */
export const WORK_NAMES = [...AMOUNTS, ...OF_CASES];

const STATES = [
  ["", "Case in any state"],
  ["unresolved", "Case unresolved"],
  ["open", "Case open"],
  ["acknowledged", "Case acknowledged"],
  ["assigned", "Case assigned"],
  ["reopened", "Case reopened"],
  ["resolved", "Case resolved"],
];

export class WorkFilters {
  /** `onChange()` is called when somebody chooses. */
  constructor(onChange) {
    const changed = { on: { change: onChange } };
    this.fields = {
      caseState: choice(STATES, { id: "case-state-filter", "aria-label": "State of the case", ...changed }),
      outcome: choice([["", "Every outcome"], ...OUTCOMES], {
        id: "outcome-filter",
        "aria-label": "Outcome",
        ...changed,
      }),
      assignee: choice([["", "Whoever\u2019s"]], {
        id: "assignee-filter",
        "aria-label": "Assignee",
        ...changed,
      }),
      minAmount: amount("At least", changed),
      maxAmount: amount("At most", changed),
    };
    const { minAmount, maxAmount, ...ofCases } = this.fields;
    this.elements = [...Object.values(ofCases)];
    if (MEASURES.length > 0) {
      this.elements.push(element(
        "span",
        { class: "pair" },
        element("span", { class: "muted small" }, fieldName(MEASURES[0])),
        minAmount,
        element("span", { class: "muted small" }, "to"),
        maxAmount,
      ));
    }
  }

  /** Shows what a query asks for. */
  show(query) {
    const pairs = [["", "Whoever\u2019s"], [session.actor, "Mine"]];
    this.fields.assignee.replaceChildren(
      ...pairs.map(([value, text]) => element("option", { value }, text)),
    );
    for (const [name, field] of Object.entries(this.fields)) {
      const wanted = query.get(name) ?? "";
      if (field.options && ![...field.options].some(({ value }) => value === wanted)) {
        field.append(element("option", { value: wanted }, wanted));
      }
      field.value = wanted;
    }
  }

  /** What is chosen, by its name; nothing of what is not. */
  read() {
    return Object.entries(this.fields).map(([name, field]) => [name, field.value.trim()]);
  }
}

/** Whether an alert that comes now may stand in the list: what its case is, its own content does not say. */
export function fitsWork(alert, query) {
  if (OF_CASES.some((name) => query.get(name))) return false;
  const value = alert.transaction[MEASURES[0]];
  const asked = AMOUNTS.some((name) => query.get(name));
  return !asked || (value !== undefined && value !== null &&
    (!query.get("minAmount") || compare(value, query.get("minAmount")) >= 0) &&
    (!query.get("maxAmount") || compare(value, query.get("maxAmount")) <= 0));
}

/** Of two plain decimals, exactly: less, equal or more than 0. */
export function compare(one, other) {
  const [a, b] = [millionths(one), millionths(other)];
  return a < b ? -1 : Number(a > b);
}

function millionths(text) {
  const [, sign, whole, rest = ""] = /^(-?)([0-9]{1,18})(?:\.([0-9]{1,6}))?$/.exec(text) ?? [];
  if (whole === undefined) return 0n;
  const size = BigInt(whole + rest.padEnd(6, "0"));
  return sign ? -size : size;
}

function amount(label, changed) {
  return element("input", {
    type: "text",
    inputmode: "decimal",
    "aria-label": `${label}: ${MEASURES.length > 0 ? fieldName(MEASURES[0]) : "amount"}`,
    placeholder: "any",
    size: 8,
    maxlength: 26,
    ...changed,
  });
}
