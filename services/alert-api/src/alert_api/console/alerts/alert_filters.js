// The filters of the alert list. What they say stands in the address, and the address decides.

import { button, choice, element } from "../core/dom.js";
import { GROUPINGS as FIELDS, MANY, ONE } from "../core/event_type.js";
import { fieldName } from "../core/format.js";
import { feeds } from "../core/pipeline.js";
import { MEMBERS } from "../core/purposes.js";
import { go } from "../core/router.js";
import { PurposeFilters } from "../parts/purpose_filters.js";
import { WORK_NAMES, WorkFilters } from "./work_filters.js";

const NAMES = [
  ...["state", "ruleId", "group", "voided", "snoozed", "snoozeId", "from", "to"],
  ...WORK_NAMES,
  ...MEMBERS,
];
const STATES = [["", "All"], ["open", "Open"], ["acknowledged", "Acknowledged"]];
const VOIDED = [["", "Voided or not"], ["true", `Rests on a voided ${ONE}`], [
  "false",
  "On none that was voided",
]];
const SNOOZED = [["", "Not snoozed"], ["true", "Snoozed"], ["all", "Snoozed or not"]];

/** What the API is asked for: without a word about snoozed ones these are left out. */
export function apiQuery(query) {
  const asked = new URLSearchParams(query);
  if (asked.get("snoozed") === "all" || asked.get("snoozeId")) asked.delete("snoozed");
  else if (!asked.get("snoozed")) asked.set("snoozed", "false");
  return asked;
}

export class AlertFilters {
  constructor() {
    this.states = STATES.map(([value, text]) => {
      const input = element("input", {
        type: "radio",
        name: "state",
        value,
        on: { change: () => this.apply() },
      });
      return { value, input, label: element("label", {}, input, element("span", {}, text)) };
    });
    const changed = { on: { change: () => this.apply() } };
    this.rule = choice([["", "Every rule"]], { id: "rule-filter", "aria-label": "Rule", ...changed });
    this.field = choice(FIELDS.map((name) => [name, fieldName(name)]), {
      "aria-label": "Group field",
      on: { change: () => this.value.value && this.apply() },
    });
    this.value = element("input", {
      type: "search",
      "aria-label": "Group value",
      placeholder: "any",
      size: 12,
      maxlength: 64,
      id: "group-value",
      ...changed,
    });
    this.purposes = new PurposeFilters("alerts", () => this.apply());
    this.work = new WorkFilters(() => this.apply());
    this.voided = choice(VOIDED, { id: "voided-filter", "aria-label": `Voided ${MANY}`, ...changed });
    this.snoozed = choice(SNOOZED, { id: "snoozed-filter", "aria-label": "Snoozed alerts", ...changed });
    this.from = element("input", { type: "datetime-local", "aria-label": "From", step: 1, ...changed });
    this.to = element("input", { type: "datetime-local", "aria-label": "To", step: 1, ...changed });
    this.clear = button("Clear filters", () => go("/alerts"), { kind: "quiet" });
    this.element = element(
      "form",
      {
        class: "filters",
        role: "search",
        "aria-label": "Filter alerts",
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
        this.states.map((state) => state.label),
      ),
      this.rule,
      this.purposes.elements,
      element("span", { class: "pair" }, this.field, this.value),
      this.work.elements,
      this.voided,
      this.snoozed,
      element(
        "span",
        { class: "pair" },
        element("span", { class: "muted small" }, "from"),
        this.from,
        element("span", { class: "muted small" }, "to"),
        this.to,
      ),
      this.clear,
    );
    feeds.rules.listen((feed) => this.offer(feed.data ?? []));
  }

  /** Of what the rules are called and are for nothing is left. */
  forget() {
    this.asked = null;
    this.offer([]);
    this.purposes.forget();
  }

  /** Shows what the address asks for; gives the query for the API. */
  show(query) {
    this.asked = query;
    for (const { value, input } of this.states) input.checked = value === (query.get("state") ?? "");
    this.chooseRule();
    this.purposes.show(query);
    this.work.show(query);
    const [field, ...rest] = (query.get("group") ?? "").split(":");
    if (FIELDS.includes(field)) this.field.value = field;
    this.value.value = rest.join(":");
    this.voided.value = VOIDED.some(([value]) => value === query.get("voided")) ? query.get("voided") : "";
    this.chooseSnoozed(query);
    this.from.value = localText(query.get("from"));
    this.to.value = localText(query.get("to"));
    this.clear.hidden = !NAMES.some((name) => query.get(name));
    const asked = new URLSearchParams();
    for (const name of NAMES) if (query.get(name)) asked.set(name, query.get(name));
    return asked;
  }

  apply() {
    const query = new URLSearchParams();
    const put = (name, value) => value && query.set(name, value);
    put("state", this.states.find((state) => state.input.checked)?.value);
    put("ruleId", this.rule.value);
    for (const [name, value] of this.purposes.read()) put(name, value);
    for (const [name, value] of this.work.read()) put(name, value);
    put("group", this.value.value.trim() && `${this.field.value}:${this.value.value.trim()}`);
    put("voided", this.voided.value);
    const [kind, snoozeId] = this.snoozed.value.split(":");
    put(snoozeId ? "snoozeId" : "snoozed", snoozeId ?? kind);
    put("from", this.from.value && String(Date.parse(this.from.value)));
    // The field shows whole seconds, so all of the last one is meant.
    put("to", this.to.value && String(Date.parse(this.to.value) + 999));
    go(`/alerts${query.size ? `?${query}` : ""}`);
  }

  /** The rules to choose from; rebuilt only when they changed, as an open list would close. */
  offer(rules) {
    const names = JSON.stringify(rules.map((rule) => [rule.ruleId, rule.name]));
    if (this.rule.dataset.names === names) return;
    this.rule.dataset.names = names;
    this.rule.replaceChildren(
      element("option", { value: "" }, "Every rule"),
      ...rules.map((rule) => element("option", { value: rule.ruleId }, rule.name)),
    );
    this.chooseRule();
  }

  /** "of:12" stands for those of one snooze, where the address asks for them. */
  chooseSnoozed(query) {
    const id = query.get("snoozeId");
    const pairs = id ? [...SNOOZED, [`of:${id}`, `Of snooze ${id}`]] : SNOOZED;
    this.snoozed.replaceChildren(...pairs.map(([value, text]) => element("option", { value }, text)));
    const known = SNOOZED.some(([value]) => value === query.get("snoozed"));
    this.snoozed.value = id ? `of:${id}` : known ? query.get("snoozed") : "";
  }

  chooseRule() {
    const wanted = this.asked?.get("ruleId") ?? "";
    if (wanted && ![...this.rule.options].some((option) => option.value === wanted)) {
      this.rule.append(element("option", { value: wanted }, `Rule ${wanted}`));
    }
    this.rule.value = wanted;
  }
}

function localText(ms) {
  if (!ms || !Number.isFinite(Number(ms))) return "";
  const date = new Date(Number(ms) - new Date(Number(ms)).getTimezoneOffset() * 60_000);
  return date.toISOString().slice(0, 19);
}
