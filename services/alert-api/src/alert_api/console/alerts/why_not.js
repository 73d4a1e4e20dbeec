// Why did it not fire? What each rule made of one transaction, asked for by its id.

import { call } from "../core/client.js";
import { button, element, form, labelled, ofNumbers, setText, tableHead } from "../core/dom.js";
import { MANY, ONE } from "../core/event_type.js";
import { decimal, fieldName, fullTime } from "../core/format.js";
import { ruleLink } from "../parts/rule_link.js";
import { sumCells } from "../words/verdict.js";

const SECONDS = 150;
const HEAD = ["Rule", "Result", "Group", ...ofNumbers("Value", "Limit")];
export const REASONS = {
  alerted: "It alerted",
  limit: "The limit was not reached",
  cooldown: "It held; the group was silent after an alert",
  held_before: "It held, and had held before; it alerts at crossings",
  late: "It came late, and the rule leaves late ones out",
  filtered: "The rule\u2019s filter leaves it out",
  null_field: "A field that the rule groups by is empty",
  duplicate: "Its id had been seen",
  backfilled: "It was backfilled, and triggers nothing",
  paused: "The rule was paused",
  not_in_force: "No version was in force at its time",
  rejected: "It was rejected",
  snoozed: "It alerted, and the alert is snoozed",
};

export class WhyNot {
  constructor() {
    this.field = element("input", { id: "why-not-id", type: "text", maxlength: 64, autocomplete: "off" });
    this.send = button("Ask", () => this.ask(), { kind: "primary", id: "why-not-ask" });
    this.said = element("p", { class: "muted", role: "status", id: "why-not-state" });
    this.facts = element("div");
    this.element = element(
      "details",
      { class: "why-not", id: "why-not" },
      element("summary", {}, "Why did it not fire?"),
      form(() => this.ask(), {}, labelled(`Id of the ${ONE}`, this.field), this.send),
      this.said,
      this.facts,
    );
  }

  forget() {
    this.field.value = "";
    this.facts.replaceChildren();
    setText(this.said, "");
  }

  async ask() {
    const id = this.field.value.trim();
    if (id === "" || this.send.disabled) return;
    this.send.disabled = true;
    this.facts.replaceChildren();
    setText(this.said, `Looking among all ${MANY}\u2026`);
    try {
      const { body } = await call(`/v1/transactions/${encodeURIComponent(id)}/judgement`, {
        seconds: SECONDS,
      });
      this.show(body);
    } catch (error) {
      setText(this.said, `There is no answer: ${error.message}`);
    } finally {
      this.send.disabled = false;
    }
  }

  show(judgement) {
    const rejected = judgement.rejected && ` It was rejected: ${judgement.rejected.detail}.`;
    const voided = judgement.voidedAt === null ? "" : " It was voided since.";
    setText(
      this.said,
      `${judgement.transactionId} of ${fullTime(judgement.eventTime)}, as it stood when it was judged.` +
        `${rejected ?? ""}${voided}`,
    );
    const rows = judgement.rules.map(row);
    this.facts.replaceChildren(
      rows.length === 0 ? element("p", { class: "empty" }, "There was no rule then.") : element(
        "div",
        { class: "table", tabindex: 0, role: "region", "aria-label": "What each rule made of it" },
        element(
          "table",
          {},
          tableHead(HEAD),
          element("tbody", {}, rows),
        ),
      ),
    );
  }
}

function row(rule) {
  const group = Object.entries(rule.group).map(([name, value]) => `${fieldName(name)} ${value ?? "\u2013"}`);
  const reason = rule.alertId
    ? element("a", { href: `/alerts/${rule.alertId}`, "data-go": true }, REASONS[rule.reason])
    : REASONS[rule.reason];
  const measured = rule.conditions ?? [rule];
  const sums = (rule.weighted ?? []).map(sumCells);
  return element(
    "tr",
    {},
    element(
      "td",
      { class: "words" },
      element("a", ruleLink({ ruleId: rule.ruleId, ruleVersion: rule.version }), rule.name),
      ` v${rule.version}`,
    ),
    element(
      "td",
      { class: "words" },
      reason,
      rule.warm === false ? [" ", notWarm()] : null,
      rule.onTrial ? [" ", onTrial(rule.onTrial)] : null,
    ),
    element("td", {}, (group.join(", ") || "all") + (rule.side ? ` as ${rule.side}` : "")),
    element(
      "td",
      { class: "number" },
      [
        ...measured.map(({ value }) => value === null ? "\u2013" : decimal(value)),
        ...sums.map(([sum]) => sum),
      ]
        .join("; "),
    ),
    element(
      "td",
      { class: "number" },
      [...measured.map(limitOf), ...sums.map(([, least]) => least)].join("; "),
    ),
  );
}

function onTrial({ percent, activeVersion }) {
  const title = `This group is among the ${percent} % that are judged by the version on trial, ` +
    `in place of version ${activeVersion}`;
  return element("span", { class: "tag", title }, `on trial, in place of v${activeVersion}`);
}

function notWarm() {
  const title = `The window may lack ${MANY} from before the engine knew this rule`;
  return element("span", { class: "tag", title }, "window not full");
}

function limitOf({ limit, operator, limitOperatorType }) {
  return limit === null ? "\u2013" : `${operator ?? limitOperatorType} ${decimal(limit)}`;
}
