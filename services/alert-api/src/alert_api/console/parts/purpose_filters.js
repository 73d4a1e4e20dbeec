// Filters by what rules are for: of rules, and of the alerts of such rules.

import { choice, element } from "../core/dom.js";
import { feeds } from "../core/pipeline.js";
import { MEMBERS, SEVERITIES } from "../core/purposes.js";

const LABELS = { severity: "Severity", tag: "Tag", owner: "Owner" };

export class PurposeFilters {
  /** `prefix` makes the ids; `onChange()` is called when somebody chooses. */
  constructor(prefix, onChange) {
    this.fields = new Map(MEMBERS.map((name) => [
      name,
      choice([["", LABELS[name]]], {
        id: `${prefix}-${name}`,
        class: "of-purpose",
        "aria-label": LABELS[name],
        on: { change: onChange },
      }),
    ]));
    this.elements = [...this.fields.values()];
    this.wanted = new Map();
    feeds.rules.listen((feed) => this.offer(feed.data ?? []));
    this.offer([]);
  }

  forget() {
    this.wanted = new Map();
    for (const field of this.fields.values()) field.value = "";
    this.offer([]);
  }

  /** What is chosen, by member; nothing of those that are not. */
  read() {
    return new Map([...this.fields].map(([name, field]) => [name, field.value]).filter(([, value]) => value));
  }

  /** Chooses what a query asks for. */
  show(query) {
    this.wanted = new Map(MEMBERS.map((name) => [name, query.get(name) ?? ""]));
    for (const name of MEMBERS) this.choose(name, this.wanted.get(name));
  }

  /** The values to choose from; rebuilt only when they changed, as an open list would close. */
  offer(rules) {
    this.fill("severity", SEVERITIES);
    this.fill("tag", rules.flatMap((rule) => rule.purpose?.tags ?? []));
    this.fill("owner", rules.map((rule) => rule.purpose?.owner).filter(Boolean));
  }

  fill(name, offered) {
    const field = this.fields.get(name);
    const values = name === "severity" ? offered : [...new Set(offered)].sort();
    const shown = JSON.stringify(values);
    if (field.dataset.values === shown) return;
    const chosen = field.value || this.wanted.get(name) || "";
    field.dataset.values = shown;
    field.replaceChildren(
      element("option", { value: "" }, LABELS[name]),
      ...values.map((value) => element("option", { value }, value)),
    );
    this.choose(name, chosen);
  }

  /** What is asked for is shown even where no rule has it (any more). */
  choose(name, value) {
    const field = this.fields.get(name);
    if (value && ![...field.options].some((option) => option.value === value)) {
      field.append(element("option", { value }, value));
    }
    field.value = value;
    field.hidden = field.options.length === 1;
  }
}
