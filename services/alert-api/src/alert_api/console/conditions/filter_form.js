// The filter of a rule as rows of conditions; what rows cannot say is written as JSON.

import { button, choice, element, labelled } from "../core/dom.js";
import { fieldOf, FIELDS as DECLARED, MANY, SIDES } from "../core/event_type.js";
import { fieldName, operator } from "../core/format.js";
import { FIELD_TESTS } from "../words/definition.js";
import { offerNames, SOURCES } from "./name_suggestions.js";
import { TreeForm } from "./tree_form.js";

const EQUALITY = ["=", "!="];
const ORDER = [">", ">=", "<", "<=", "=", "!="];
const IN = "in";
const IN_LIST = "in-list";
const IS_NULL = "isNull";
const IN_NETWORK = "inNetwork";
const SIGNS = {
  [IN]: "is one of",
  [IN_LIST]: "is in the list",
  [IS_NULL]: "is missing",
  [IN_NETWORK]: "is in the network",
  ...FIELD_TESTS,
};
const BY_KIND = {
  enum: [...EQUALITY, IN, IN_LIST, IS_NULL],
  decimal: [...ORDER, IN, "multipleOf"],
  string: [...EQUALITY, IN, IN_LIST, "startsWith", "endsWith", "contains", IS_NULL],
  ip: [...EQUALITY, IN, IN_LIST, IN_NETWORK, IS_NULL],
  position: [...EQUALITY, IN, IN_LIST, IS_NULL],
  timestamp: [...ORDER, IS_NULL],
};
const COMPARED = DECLARED.filter((declared) => declared.role !== "id");
const FIELDS = Object.fromEntries(
  Object.keys(BY_KIND).flatMap((kind) =>
    COMPARED.filter((declared) => declared.kind === kind).map((declared) => [declared.name, BY_KIND[kind]])
  ),
);
const [FIRST] = Object.keys(FIELDS).map(fieldOf);

export class FilterForm extends TreeForm {
  constructor({ id = "filter" } = {}) {
    super({
      id: `${id}-json`,
      rows: 6,
      what: "The filter is",
      fits: (tree) => asRows(tree) !== null,
      words: ["Write as JSON", "Write as conditions"],
    });
    this.joint = choice([["all", "all of these hold"], ["any", "one of these holds"]], {
      "aria-label": "Conditions joined by",
    });
    this.list = element("div", { class: "conditions" });
    this.byForm = element(
      "div",
      {},
      element("p", { class: "field-name" }, `Only ${MANY} where `, this.joint),
      this.list,
      button(
        "Add a condition",
        () => this.add({ field: FIRST.name, operator: "=", value: FIRST.values.at(-1) ?? "" }),
      ),
    );
    this.byText = element(
      "div",
      {},
      labelled(
        "Filter as JSON",
        this.text,
        'all, any, not over {"field", "operator", "value"} or {"field", "in": [\u2026]}; ' +
          'a list by name: "in": {"list": \u2026}; two fields: {"field", "operator", "otherField"}; ' +
          'times of day: {"localTime": {"zone": "Europe/Berlin", "from": "22:00", "to": "06:00"}}' +
          (SIDES.length ? `; by a party: {"side": "${SIDES[0]}"}` : ""),
      ),
    );
    this.element = element(
      "fieldset",
      { class: "group", dataset: { field: "filter" } },
      element("legend", {}, "Filter"),
      this.byForm,
      this.byText,
      element("div", { class: "swap" }, this.swap),
    );
    this.write(null);
  }

  /** Shows a filter, or none. */
  write(tree) {
    const rows = asRows(tree);
    this.show(rows === null);
    this.list.replaceChildren();
    if (rows === null) {
      this.text.value = JSON.stringify(tree, null, 2);
      return;
    }
    this.text.value = "";
    this.joint.value = rows.joint;
    for (const row of rows.conditions) this.add(row);
  }

  /** The filter, null for none. Throws a sentence when the JSON is none. */
  read() {
    if (this.json) {
      return this.text.value.trim() ? this.readText() : null;
    }
    const conditions = [...this.list.children].map((row) => {
      const [field, sign, source, value] = [...row.querySelectorAll("select, input")].map((input) =>
        input.value
      );
      if (sign === IN_LIST) return { field, in: { list: value.trim() } };
      if (sign === IS_NULL) return { field, isNull: true };
      if (FIELD_TESTS[sign]) return { field, [sign]: value.trim() };
      if (sign === IN || sign === IN_NETWORK) {
        return { field, [sign]: value.split(",").map((part) => part.trim()).filter(Boolean) };
      }
      return {
        field,
        operator: sign,
        value: takesParameter(field, sign) && source === "parameter"
          ? { parameter: value.trim() }
          : fieldOf(field).kind === "timestamp"
          ? Number(value)
          : value.trim(),
      };
    });
    if (conditions.length === 0) return null;
    return conditions.length === 1 ? conditions[0] : { [this.joint.value]: conditions };
  }

  add(condition) {
    const signs = (name) => FIELDS[name].map((sign) => [sign, SIGNS[sign] ?? operator(sign)]);
    const field = choice(Object.keys(FIELDS).map((name) => [name, fieldName(name)]), {
      "aria-label": "Field",
      on: { change: () => offer() },
    });
    const sign = choice([], { "aria-label": "Comparison", on: { change: () => adapt() } });
    const source = choice(SOURCES, { "aria-label": "Compared with", on: { change: () => adapt() } });
    const value = element("input", { "aria-label": "Value", required: true, placeholder: "value" });
    const offer = () => {
      sign.replaceChildren(
        ...signs(field.value).map(([key, text]) => element("option", { value: key }, text)),
      );
      adapt();
    };
    const adapt = () => {
      source.hidden = !takesParameter(field.value, sign.value);
      value.hidden = sign.value === IS_NULL;
      value.required = !value.hidden;
      offerNames(
        value,
        sign.value === IN_LIST ? "list" : !source.hidden && source.value === "parameter" ? "parameter" : null,
      );
    };
    field.value = condition.field;
    offer();
    const test = testOf(condition);
    sign.value = condition.in?.list ? IN_LIST : condition.in ? IN : test ?? condition.operator;
    source.value = condition.value?.parameter ? "parameter" : "number";
    value.value = condition.in?.list ?? condition.in?.join(", ") ?? condition.value?.parameter ??
      (test === IS_NULL
        ? ""
        : test === IN_NETWORK
        ? condition[test].join(", ")
        : String(test ? condition[test] : condition.value));
    adapt();
    const row = element(
      "div",
      { class: "condition" },
      field,
      sign,
      element("div", { class: "condition-value" }, source, value),
      button("Remove", () => row.remove(), { "aria-label": "Remove this condition" }),
    );
    this.list.append(row);
  }
}

function takesParameter(field, sign) {
  return fieldOf(field)?.kind === "decimal" && ORDER.includes(sign);
}

/** The sign of a test that compares with no constant; undefined for a comparison. */
function testOf(node) {
  return [IS_NULL, IN_NETWORK, ...Object.keys(FIELD_TESTS)].find((sign) => node?.[sign] !== undefined);
}

/** The tree as `{joint, conditions}`, or null where it is more than that. */
function asRows(tree) {
  if (tree === null || tree === undefined) return { joint: "all", conditions: [] };
  if (isRow(tree)) return { joint: "all", conditions: [tree] };
  const [joint] = Object.keys(tree);
  return ["all", "any"].includes(joint) && Array.isArray(tree[joint]) && tree[joint].every(isRow)
    ? { joint, conditions: tree[joint] }
    : null;
}

/** Whether a row can show it, names of lists and parameters where there may be some. */
function isRow(node) {
  const signs = FIELDS[node?.field] ?? [];
  const test = testOf(node);
  if (test === IN_NETWORK) return signs.includes(test) && Array.isArray(node.inNetwork);
  if (test) return signs.includes(test) && (test !== IS_NULL || node.isNull === true);
  if (node?.in !== undefined) {
    return Array.isArray(node.in)
      ? signs.includes(IN)
      : signs.includes(IN_LIST) && typeof node.in?.list === "string";
  }
  return signs.includes(node?.operator) &&
    (typeof node.value?.parameter === "string"
      ? takesParameter(node.field, node.operator)
      : ["string", "number"].includes(typeof node.value));
}
