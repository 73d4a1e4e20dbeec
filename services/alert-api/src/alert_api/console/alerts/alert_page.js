// Everything about one alert: why it tripped, its window, the transaction, what counted, what people did.

import { facts, judgedAgain, taken } from "../parts/alert_row.js";
import { openAcknowledge } from "../parts/acknowledge.js";
import { isSaid, purposeLines, severityTag } from "../parts/purpose_facts.js";
import { pairs, transaction, why } from "./alert_facts.js";
import { alertHistory } from "./alert_history.js";
import { AlertProof } from "./alert_proof.js";
import { snoozeButton, snoozedSentence } from "./alert_snooze.js";
import { call, Problem, session } from "../core/client.js";
import { contributors } from "../words/contributors.js";
import { button, element } from "../core/dom.js";
import { ONE } from "../core/event_type.js";
import { ruleLink } from "../parts/rule_link.js";
import { purposeOf } from "../core/purposes.js";
import { widest, widestIndex } from "../words/verdict.js";
import { judgedConditions } from "../words/condition_verdicts.js";
import { askedDefinition, knownDefinition } from "../words/measure.js";
import { voidedSentences } from "../words/void_marks.js";
import { windowPicture } from "../words/window_picture.js";
import { windowStrip } from "../words/window_strip.js";

export class AlertPage {
  constructor() {
    this.element = element("article", { class: "alert-page", hidden: true });
    this.forget();
  }

  forget() {
    Object.assign(this, { id: null, alert: null, definition: null, purpose: null, proof: null });
    this.purposePart = element("section", { class: "purpose", hidden: true });
    this.element.replaceChildren();
  }

  async open(id, back) {
    if (this.id === id) return;
    this.forget();
    Object.assign(this, { id, back });
    this.element.append(this.backLink(), element("p", { class: "muted" }, "Loading\u2026"));
    await this.read();
  }

  async read() {
    const { id } = this;
    try {
      const { body } = await call(`/v1/alerts/${id}`);
      if (this.id !== id) return;
      this.show(body);
      if (this.definition === null) this.learn(id);
    } catch (error) {
      if (this.id !== id) return;
      const text = error instanceof Problem && error.status === 404
        ? "There is no such alert."
        : `It cannot be read now: ${error.message}`;
      this.element.replaceChildren(
        this.backLink(),
        element("p", { class: "error" }, text),
        button("Try again", () => this.read()),
      );
    }
  }

  /** An old version, or a page that was opened before the rules were read. */
  async learn(id) {
    const definition = await askedDefinition(this.alert);
    if (this.id !== id || definition === null) return;
    this.definition = definition;
    this.show(this.alert);
  }

  reread() {
    if (this.id !== null) this.read();
  }

  /** The same alert as it is now: somebody may have acknowledged it meanwhile. */
  replace(alert) {
    if (this.alert?.alertId !== alert.alertId) return;
    const isMarked = (this.alert.voided?.length ?? 0) !== (alert.voided?.length ?? 0);
    if (isMarked || this.alert.state !== alert.state) this.show({ ...this.alert, ...alert });
  }

  backLink() {
    return element("a", { class: "back", href: this.back, "data-go": true }, "\u2190 All alerts");
  }

  show(alert) {
    this.alert = alert;
    this.definition ??= knownDefinition(alert);
    this.proof ??= new AlertProof(alert);
    const again = judgedAgain(alert);
    this.element.replaceChildren(
      this.backLink(),
      element(
        "header",
        { class: "alert-head", dataset: { state: alert.state } },
        element(
          "div",
          {},
          element("h1", {}, element("a", { class: "rule-name", ...ruleLink(alert) }, alert.ruleName)),
          facts(alert),
          again && element("p", { class: "judged-again" }, `${again}.`),
          snoozedSentence(alert),
          voidedSentences(alert).map((text) => element("p", { class: "judged-again voided" }, text)),
        ),
        element(
          "div",
          { class: "case-acts" },
          alert.state === "open" ? this.acknowledgeButton(alert) : taken(alert),
          snoozeButton(alert),
        ),
      ),
      this.purposePart,
      part(
        alert.conditions
          ? `The widest window, of condition ${widestIndex(alert.conditions) + 1}`
          : "The window",
        this.picture(alert),
        "across",
      ),
      element(
        "div",
        { class: "detail" },
        part("Why it tripped", pairs(why(alert, this.definition))),
        part(`The ${ONE}`, transaction(alert)),
        alert.conditions ? null : part("What counted", contributors(alert, this.definition)),
        part("What happened", alertHistory(alert)),
        alert.conditions ? part("The conditions", judgedConditions(alert, this.definition), "across") : null,
        this.proof.element,
      ),
      element(
        "p",
        { class: "muted small" },
        "Alert ",
        element("span", { class: "mono" }, alert.alertId),
        alert.caseId ? [", worked on in ", caseLink(alert.caseId)] : null,
      ),
    );
    this.tick();
  }

  /** Rules are read apart from alerts, and what they are for may change while the page is open. */
  tick() {
    if (this.alert === null) return;
    const purpose = purposeOf(this.alert.ruleId);
    const shown = JSON.stringify(purpose);
    if (shown === this.purpose) return;
    this.purpose = shown;
    this.purposePart.hidden = !isSaid(purpose);
    this.purposePart.replaceChildren(
      element("h2", {}, "What the rule is for ", severityTag(purpose) ?? ""),
      ...purposeLines(purpose),
    );
  }

  picture(alert) {
    const shown = widest(alert);
    const several = alert.conditions?.length > 1;
    return [
      windowPicture(shown, alert.conditions ? shown : this.definition),
      (alert.conditions ?? []).map((condition, index) =>
        condition.limitMeasure && windowStrip(alert, condition, several ? index + 1 : null)
      ),
    ];
  }

  acknowledgeButton(alert) {
    return button("Acknowledge", () => openAcknowledge(alert), {
      kind: "primary",
      hidden: !session.may("alerts:ack"),
      id: "acknowledge-this",
    });
  }
}

function part(title, content, className = "") {
  return element("section", { class: className }, element("h2", {}, title), content);
}

function caseLink(caseId) {
  return element("a", { href: `/cases/${caseId}`, "data-go": true }, `case ${caseId}`);
}
