// One case in the list: a line that leads to it.

import { session } from "../core/client.js";
import { button, element, setText } from "../core/dom.js";
import { ago, fullTime, timeOfDay } from "../core/format.js";
import { dueTag, holderText, sizeText, stateTag, subjectText } from "./case_words.js";

const MOST_RULES = 3;

/** The row keeps its element for as long as the case is shown: focus stays where it is. */
export class CaseRow {
  /** `acts` are `acknowledge(case)` and `claim(case)`. */
  constructor(one, acts, search) {
    this.acts = acts;
    this.age = element("span");
    this.due = element("span");
    this.link = element("a", { class: "alert-open", href: `/cases/${one.caseId}${search}`, "data-go": true });
    this.when = element("time");
    this.end = element("div", { class: "alert-end" });
    this.element = element(
      "li",
      { class: "alert case", dataset: { case: one.caseId } },
      element(
        "div",
        { class: "alert-row" },
        this.link,
        element("div", { class: "alert-when" }, this.when, this.age),
        this.end,
      ),
    );
    this.update(one);
  }

  update(one) {
    const shown = JSON.stringify(one);
    if (this.shown === shown) return;
    Object.assign(this, { one, shown });
    this.element.dataset.state = one.state;
    this.link.replaceChildren(
      element("span", { class: "alert-name" }, subjectText(one)),
      element(
        "span",
        { class: "alert-facts" },
        stateTag(one),
        this.due,
        element("span", { class: "measure" }, sizeText(one)),
        ruleTags(one.rules),
      ),
    );
    this.when.dateTime = new Date(one.lastEventTime).toISOString();
    this.when.title = fullTime(one.lastEventTime);
    setText(this.when, timeOfDay(one.lastEventTime));
    const holder = holderText(one);
    this.end.replaceChildren(holder ? element("div", { class: "taken" }, holder) : this.nobody());
  }

  nobody() {
    if (!session.may("alerts:ack")) return element("span", { class: "muted small" }, "nobody yet");
    return button("Claim", () => this.acts.claim(this.one), {
      "aria-label": `Claim: ${subjectText(this.one)}`,
    });
  }

  tick(now) {
    setText(this.age, ago(this.one.lastEventTime, now));
    const due = dueTag(this.one, now);
    this.due.hidden = due === null;
    if (due && due.textContent !== this.due.textContent) this.due.replaceChildren(due);
  }
}

function ruleTags(rules) {
  const named = rules.slice(0, MOST_RULES).map(({ ruleId, ruleName }) =>
    element("span", { class: "tag" }, ruleName || `Rule ${ruleId}`)
  );
  if (rules.length > MOST_RULES) {
    named.push(element("span", { class: "tag" }, `${rules.length - MOST_RULES} more rules`));
  }
  return named;
}
