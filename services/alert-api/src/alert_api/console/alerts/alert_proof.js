// The proof of an alert, for who asks: why there is one in a sentence, the rule as it was then, every transaction that
// counted, and whether the alert is what was judged.

import { call } from "../core/client.js";
import { button, element, setText } from "../core/dom.js";
import { MANY, ONE } from "../core/event_type.js";
import { counted, decimal, fullTime } from "../core/format.js";
import { evidenceButton } from "../parts/evidence_button.js";
import { isVoided } from "../words/void_marks.js";

const SECONDS = 150;
const PAGE = 50;
const MOST_SHOWN = 20;
const KINDS = {
  missing: "Missing from the alert",
  added: "Added to the alert",
  altered: "Altered in the alert",
  member: "Different",
  not_derived: "No such alert",
  history: "Records are not those that were judged",
};

export class AlertProof {
  constructor(alert) {
    this.path = `/v1/alerts/${alert.alertId}`;
    this.alert = alert;
    this.said = element("p", { class: "muted", role: "status", id: "proof-state" });
    this.mark = element("p", { class: "proof-mark", hidden: true, id: "proof-mark" });
    this.differences = element("ul", { class: "proof-differences", hidden: true });
    this.explained = element("div", { id: "proof-explained" });
    this.explain = button("Explain", () => this.asked(() => this.readExplanation()), { id: "explain-this" });
    this.verify = button("Verify", () => this.asked(() => this.readVerification()), { id: "verify-this" });
    this.element = element(
      "section",
      { class: "across proof" },
      element("h2", {}, "Explanation"),
      element(
        "p",
        { class: "actions" },
        this.explain,
        this.verify,
        evidenceButton("alert", alert.alertId, (text) => setText(this.said, text)),
      ),
      this.said,
      this.mark,
      this.differences,
      this.explained,
    );
    setText(this.said, `Derived again from every ${ONE} that was judged, not from what the alert lists.`);
    // who does not see it can verify: nothing is said where it cannot be read
    this.readKept().catch(() => null);
  }

  /** One question at a time; a proof may take a minute. */
  async asked(question) {
    this.explain.disabled = this.verify.disabled = true;
    setText(this.said, "Going through the recorded order\u2026");
    try {
      await question();
      setText(this.said, "");
    } catch (error) {
      setText(this.said, `There is no answer: ${error.message}`);
    } finally {
      this.explain.disabled = this.verify.disabled = false;
    }
  }

  /** What came of the newest verification, whoever asked. */
  async readKept() {
    const { body } = await call(`${this.path}/verifications`);
    if (body.items.length > 0 && this.mark.hidden) this.showVerification(body.items[0]);
  }

  async readVerification() {
    const { body } = await call(`${this.path}/verification`, { method: "POST", seconds: SECONDS });
    this.showVerification(body);
  }

  showVerification(body) {
    const how = `on ${
      fullTime(body.verifiedAt)
    } by ${body.verifiedBy}, along the order of engine ${body.engine}`;
    this.showOutcome(body.outcome === "match", how);
    const shown = body.differences.slice(0, MOST_SHOWN);
    this.differences.hidden = shown.length === 0;
    this.differences.replaceChildren(
      ...shown.map((one) => element("li", {}, element("b", {}, KINDS[one.kind]), " ", words(one))),
    );
  }

  async readExplanation() {
    const { body } = await call(`${this.path}/explanation`, { seconds: SECONDS });
    this.explained.replaceChildren(
      element("p", { class: "sentence" }, body.sentence),
      element("dl", { class: "pairs" }, ruleFacts(body.rule)),
      ...body.conditions.flatMap((condition, number) => this.timeLines(condition, number)),
    );
    if (body.outcome === "mismatch") this.showOutcome(false, "by now: verify it to see the differences");
  }

  showOutcome(isProven, how) {
    this.mark.hidden = false;
    this.mark.dataset.outcome = isProven ? "match" : "mismatch";
    setText(
      this.mark,
      isProven ? `\u2713 Proven ${how}` : `\u2717 Not what was judged, ${how}`,
    );
  }

  /** Of a condition what counted for its value, and for its limit where that was measured. */
  timeLines(condition, number) {
    const title = this.alert.conditions ? `Condition ${number + 1}: ` : "";
    const { value, operator, limit, limitMeasure } = condition;
    const path = `${this.path}/contributors?condition=${number}&limit=${PAGE}`;
    const said = `${title}${told(value)} ${operator} ${told(limit)}, from `;
    const lines = [this.timeLine(condition.contributors, said, "What counted, newest first", path)];
    if (limitMeasure) {
      const came = `The limit ${told(limit)}: ${madeOf(limitMeasure)}, from `;
      const name = "What counted for the limit, newest first";
      lines.push(this.timeLine(limitMeasure.contributors, came, name, `${path}&of=limit`));
    }
    return lines;
  }

  /** Every transaction that counted for one number, the newest first, a page at a time. */
  timeLine({ count, transactions }, said, name, path) {
    const list = element("ol", { class: "time-line", "aria-label": name, tabindex: 0 });
    const state = element("p", { class: "small" }, said, counted(count, ONE, MANY));
    let next = path;
    const more = button(`Show every ${ONE}`, () =>
      this.asked(async () => {
        const page = await call(next, { seconds: SECONDS });
        const entries = page.body.items.map((one) => entry(this.alert, one));
        if (next.includes("cursor")) list.append(...entries);
        else list.replaceChildren(...entries);
        next = page.next &&
          new URL(page.next, location.origin).pathname + new URL(page.next, location.origin).search;
        more.hidden = next === null;
        setText(more, "Show more");
      }), { hidden: count <= Math.min(transactions.length, MOST_SHOWN) });
    list.append(...transactions.slice(0, MOST_SHOWN).map((one) => entry(this.alert, one)));
    return element("div", { class: "condition-line" }, state, list, more);
  }
}

/** How a relative limit came about. */
function madeOf({ value, times, plus, plusDeviations, deviation }) {
  const deviations = plusDeviations === null
    ? ""
    : ` + ${told(plusDeviations)} deviations of ${told(deviation)}`;
  return `${told(times)} \u00d7 ${told(value)}${plus === "0" ? "" : ` + ${told(plus)}`}${deviations}`;
}

function entry(alert, transaction) {
  const { transactionId, eventTime, value } = transaction;
  return element(
    "li",
    {},
    element("time", {}, fullTime(eventTime)),
    element(
      "span",
      { class: "mono" },
      transactionId,
      isVoided(alert, transaction) ? [" ", element("span", { class: "tag warn" }, "voided")] : null,
    ),
    element("span", { class: "number" }, value === null ? "" : told(value)),
  );
}

function told(value) {
  if (value === null) return "nothing";
  return /^-?\d/.test(value) ? decimal(value) : value;
}

function ruleFacts(rule) {
  const facts = rule.unavailable ? [["Rule", rule.unavailable]] : [
    ["Rule then", `${rule.name}, version ${rule.version}`],
    ["Written by", `${rule.author}${rule.reason ? `: ${rule.reason}` : ""}`],
    [
      "Approved by",
      rule.approvedBy ? `${rule.approvedBy}, ${fullTime(rule.approvedAt)}` : "nobody was asked",
    ],
    ["Published", fullTime(rule.publishedAt)],
    ["Since then", rule.changedSince ?? "nothing has changed"],
  ];
  return facts.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]);
}

function words({ kind, member, stored, derived }) {
  if (kind === "not_derived" || kind === "history") return derived;
  const one = (value) =>
    value === null ? "nothing" : typeof value === "object" ? JSON.stringify(value) : String(value);
  return `${member}: the alert says ${one(stored)}, what was judged says ${one(derived)}`;
}
