// One change: who asks for what, and what can be done with it.

import { Problem, registry, session } from "../core/client.js";
import { button, element, setText, toast } from "../core/dom.js";
import { fullTime } from "../core/format.js";
import { ChangeEstimate } from "./change_estimate.js";
import { titleOf, whatChanges } from "./change_words.js";

const STATES = {
  DRAFT: ["draft", ""],
  SUBMITTED: ["waits for approval", "warn"],
  APPROVED: ["approved", "good"],
  WITHDRAWN: ["given up", ""],
};
const DONE = {
  submit: "Submitted. Somebody else has to approve it.",
  approve: "Approved. The engine takes it in a moment.",
  reject: "Sent back.",
  withdraw: "Given up.",
  review: "Noted that you have looked at it.",
};

export class ChangeCard {
  /** `edit(change)` opens the form of a draft; `onDone()` is called when it stands otherwise. */
  constructor(change, { edit, onDone }) {
    Object.assign(this, { change, onDone });
    this.what = element("div", {}, element("p", { class: "muted" }, "Loading\u2026"));
    this.reason = element("input", {
      class: "wide",
      maxlength: 500,
      placeholder: "Why, for the audit trail",
      "aria-label": `Reason: change ${change.changeId}`,
    });
    this.error = element("p", { class: "error", role: "alert" });
    this.estimate = new ChangeEstimate();
    this.tell(change);
    const acts = this.acts(edit);
    this.element = element(
      "li",
      { class: "rule change", dataset: { changeId: change.changeId } },
      element(
        "div",
        { class: "rule-main" },
        element(
          "div",
          { class: "rule-head" },
          named(change),
          tag(change),
          change.awaitsReview ? element("span", { class: "tag alarm" }, "done by one person alone") : null,
        ),
        element("p", { class: "muted small" }, history(change)),
        change.reason ? element("p", {}, element("q", {}, change.reason)) : null,
        this.what,
        this.estimate.element,
        acts.length ? element("div", { class: "change-acts" }, this.reason, acts) : null,
        this.error,
      ),
    );
    whatChanges(change).then(
      (nodes) => this.what.replaceChildren(...nodes),
      (error) => this.what.replaceChildren(element("p", { class: "error" }, error.message)),
    );
  }

  /** What comes of the estimate, in the card as it stands: somebody may be typing a reason. */
  tell({ estimate, state }) {
    this.estimate.tell(estimate ?? null, isOpen(state));
  }

  acts(edit) {
    const { change } = this;
    const isMine = change.editors.includes(session.actor);
    const [writes, decides] = [session.may("rules:write"), session.may("rules:approve") && !isMine];
    const open = isOpen(change.state);
    const does = (text, act, kind = "quiet") =>
      button(text, act, { kind, "aria-label": `${text}: change ${change.changeId}` });
    return [
      change.state === "DRAFT" && writes
        ? does("Submit for approval", () => this.step("submit"), "primary")
        : null,
      change.state === "DRAFT" && writes ? does("Edit", () => edit(change)) : null,
      change.state === "SUBMITTED" && decides ? does("Approve", () => this.step("approve"), "primary") : null,
      change.state === "SUBMITTED" && decides ? does("Reject", () => this.step("reject")) : null,
      open && isMine && writes ? does("Give up", () => this.step("withdraw")) : null,
      change.awaitsReview && decides
        ? does("I have looked at it", () => this.step("review"), "primary")
        : null,
    ].filter(Boolean);
  }

  /** An approval is of what is shown here. */
  async step(step) {
    const { changeId, contentHash } = this.change;
    const reason = this.reason.value.trim();
    setText(this.error, "");
    if (step === "reject" && !reason) {
      setText(this.error, "Say why, so that it can be mended.");
      this.reason.focus();
      return;
    }
    const query = reason ? `?reason=${encodeURIComponent(reason)}` : "";
    const body = step === "approve" || step === "review" ? { contentHash } : undefined;
    try {
      await registry(`/changes/${changeId}/${step}${query}`, { method: "POST", body });
      toast(DONE[step]);
      this.onDone();
    } catch (error) {
      setText(this.error, error.message);
      if (error instanceof Problem && error.status === 409) this.onDone();
    }
  }
}

/** All of a change that makes another card of it: not how far its estimate is. */
export function cardKey(change) {
  return JSON.stringify([{ ...change, estimate: null }, titleOf(change), session.actor]);
}

function isOpen(state) {
  return state === "DRAFT" || state === "SUBMITTED";
}

/** Its title; of a rule it leads to the rule's page. */
function named(change) {
  const { ruleId } = change;
  return ruleId
    ? element("a", { class: "rule-name", href: `/rules/${ruleId}`, "data-go": true }, titleOf(change))
    : element("b", { class: "rule-name" }, titleOf(change));
}

function tag(change) {
  const [text, level] = STATES[change.state];
  return element("span", { class: `tag ${level}` }, change.breakGlass ? "done" : text);
}

function history({ changeId, revision, author, editors, changedAt, decidedBy, decidedAt }) {
  const others = editors.slice(1);
  return [
    `Change ${changeId}${revision > 1 ? `, revision ${revision}` : ""}, by ${author}`,
    others.length ? `edited by ${others.join(", ")}` : null,
    fullTime(changedAt),
    decidedBy ? `decided by ${decidedBy}, ${fullTime(decidedAt)}` : null,
  ].filter(Boolean).join(", ");
}
