// The filters of the list of cases. What they say stands in the address, and the address decides.

import { session } from "../core/client.js";
import { button, choice, element } from "../core/dom.js";
import { GROUPINGS as FIELDS } from "../core/event_type.js";
import { fieldName } from "../core/format.js";
import { feeds } from "../core/pipeline.js";
import { go } from "../core/router.js";
import { SEVERITIES } from "../core/purposes.js";
import { OUTCOMES } from "../words/outcomes.js";

const NAMES = ["state", "outcome", "assignee", "ruleId", "subject", "severity", "overdue", "sort"];
const STANDINGS = [["", "Unresolved"], ["open", "Open"], ["resolved", "Resolved"], ["all", "All"]];

export class CaseFilters {
  constructor() {
    const changed = { on: { change: () => this.apply() } };
    this.standings = STANDINGS.map(([value, text]) => {
      const input = element("input", { type: "radio", name: "case-state", value, ...changed });
      return { value, input, label: element("label", {}, input, element("span", {}, text)) };
    });
    this.assignee = choice([["", "Whoever\u2019s"]], {
      id: "case-assignee",
      "aria-label": "Assignee",
      ...changed,
    });
    this.rule = choice([["", "Every rule"]], { id: "case-rule", "aria-label": "Rule", ...changed });
    this.outcome = choice([["", "Every outcome"], ...OUTCOMES], {
      id: "case-outcome",
      "aria-label": "Outcome",
      ...changed,
    });
    this.severity = choice([["", "Severity"], ...SEVERITIES.map((name) => [name, name])], {
      id: "case-severity",
      "aria-label": "Severity",
      ...changed,
    });
    this.overdue = choice([["", "Due whenever"], ["true", "Overdue"]], {
      id: "case-overdue",
      "aria-label": "Due",
      ...changed,
    });
    this.sort = choice([["", "Newest alert first"], ["due", "Due first"]], {
      id: "case-sort",
      "aria-label": "Order",
      ...changed,
    });
    this.field = choice(FIELDS.map((name) => [name, fieldName(name)]), {
      "aria-label": "Subject field",
      on: { change: () => this.value.value && this.apply() },
    });
    this.value = element("input", {
      type: "search",
      "aria-label": "Subject value",
      placeholder: "any",
      size: 12,
      maxlength: 64,
      id: "case-subject",
      ...changed,
    });
    this.clear = button("Clear filters", () => go("/cases"));
    this.element = element(
      "form",
      {
        class: "filters case-filters",
        role: "search",
        "aria-label": "Filter cases",
        on: {
          submit: (event) => {
            event.preventDefault();
            this.apply();
          },
        },
      },
      element(
        "fieldset",
        { class: "segments" },
        element("legend", { class: "unseen" }, "State"),
        this.standings.map(({ label }) => label),
      ),
      this.severity,
      this.overdue,
      this.outcome,
      this.assignee,
      this.rule,
      element("span", { class: "pair" }, this.field, this.value),
      this.sort,
      this.clear,
    );
    feeds.rules.listen((feed) => this.offer(feed.data ?? []));
  }

  /** Of what the rules are called nothing is left. */
  forget() {
    this.asked = null;
    this.offer([]);
  }

  /** Shows what the address asks for; gives the query for the API, which asks for unresolved ones where none does. */
  show(query) {
    this.asked = query;
    for (const { value, input } of this.standings) input.checked = value === (query.get("state") ?? "");
    choose(this.assignee, [["", "Whoever\u2019s"], [session.actor, "Mine"]], query.get("assignee") ?? "");
    choose(this.rule, null, query.get("ruleId") ?? "", "Rule ");
    choose(this.outcome, null, query.get("outcome") ?? "");
    for (const name of ["severity", "overdue", "sort"]) choose(this[name], null, query.get(name) ?? "");
    const [field, ...rest] = (query.get("subject") ?? "").split(":");
    if (FIELDS.includes(field)) this.field.value = field;
    this.value.value = rest.join(":");
    this.clear.hidden = !NAMES.some((name) => query.get(name));
    const asked = new URLSearchParams({ state: query.get("state") || "unresolved" });
    if (asked.get("state") === "all") asked.delete("state");
    for (const name of NAMES.slice(1)) if (query.get(name)) asked.set(name, query.get(name));
    return asked;
  }

  apply() {
    const query = new URLSearchParams();
    const put = (name, value) => value && query.set(name, value);
    put("state", this.standings.find(({ input }) => input.checked)?.value);
    put("assignee", this.assignee.value);
    put("ruleId", this.rule.value);
    put("outcome", this.outcome.value);
    for (const name of ["severity", "overdue", "sort"]) put(name, this[name].value);
    put("subject", this.value.value.trim() && `${this.field.value}:${this.value.value.trim()}`);
    go(`/cases${query.size ? `?${query}` : ""}`);
  }

  /** The rules to choose from; rebuilt only when they changed, as an open list would close. */
  offer(rules) {
    const pairs = [["", "Every rule"], ...rules.map((rule) => [String(rule.ruleId), rule.name])];
    const names = JSON.stringify(pairs);
    if (this.rule.dataset.names === names) return;
    this.rule.dataset.names = names;
    choose(this.rule, pairs, this.asked?.get("ruleId") ?? "", "Rule ");
  }
}

/** Makes the select have these pairs, where they are given, and that value, whether it is among them or not. */
function choose(select, pairs, value, before = "") {
  if (pairs !== null) {
    select.replaceChildren(...pairs.map(([key, text]) => element("option", { value: key }, text)));
  }
  if (![...select.options].some((option) => option.value === value)) {
    select.append(element("option", { value }, `${before}${value}`));
  }
  select.value = value;
}
