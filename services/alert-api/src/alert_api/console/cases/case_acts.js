// What people do with a case: at once, or by a form in a dialog.

import { call, Problem, session, SignedOut } from "../core/client.js";
import { byId, choice, element, form, labelled, setText, toast } from "../core/dom.js";
import { trouble as refusal } from "../core/field_errors.js";
import { counted } from "../core/format.js";
import { outcomeName, OUTCOMES } from "../words/outcomes.js";
import { subjectText } from "./case_words.js";

const DIALOG = "rule-dialog";

/** Does it, if the case is as it is shown; gives the case as it is then. */
async function send(one, path, body = {}) {
  const answer = await call(`/v1/cases/${one.caseId}/${path}`, {
    method: "POST",
    body,
    version: one.version,
  });
  return answer.body;
}

/** What went wrong, in words. */
function trouble(error) {
  if (error instanceof Problem && error.status === 412) {
    return "Somebody was there first: this case has changed. It is shown as it is now.";
  }
  if (error instanceof Problem && error.status === 403) {
    return "Your key may look at cases, but not work on them.";
  }
  return refusal(error);
}

/** A form that does one thing with a case, in a dialog. */
class ActForm {
  constructor(title, go, fields, act) {
    this.comment = element("textarea", { id: "case-comment", rows: 4, maxlength: 2000 });
    this.error = element("p", { class: "error", role: "alert" });
    this.go = element("button", { class: "primary", type: "submit", id: "case-go" }, go);
    this.act = act;
    this.fields = fields;
    this.title = title;
  }

  open(commentLabel = "Note (optional)") {
    const body = form(
      () => this.send(),
      { class: "rule-form case-form" },
      this.fields,
      labelled(commentLabel, this.comment),
      this.error,
      element("div", { class: "dialog-end" }, this.go),
    );
    setText(byId(`${DIALOG}-title`), this.title);
    byId(`${DIALOG}-body`).replaceChildren(body);
    byId(DIALOG).showModal();
    (body.querySelector("select, input") ?? this.comment).focus();
  }

  async send() {
    this.go.disabled = true;
    try {
      const comment = this.comment.value.trim();
      await this.act(comment ? { comment } : {});
      byId(DIALOG).close();
      byId(`${DIALOG}-body`).replaceChildren();
    } catch (error) {
      if (error instanceof SignedOut) byId(DIALOG).close();
      else setText(this.error, trouble(error));
    } finally {
      this.go.disabled = false;
    }
  }
}

/** `changed(case)` is called with each case that was changed, `stale(case)` with one that somebody else did. */
export class CaseActs {
  constructor({ changed, stale, changedMany }) {
    Object.assign(this, { changed, stale, changedMany });
  }

  acknowledge(one) {
    return this.now(one, "acknowledge", "Acknowledged.");
  }

  claim(one) {
    return this.now(one, "claim", "It is yours now.");
  }

  resolve(one) {
    const outcome = choice(OUTCOMES, { id: "case-resolve-outcome" });
    outcome.value = "false_positive";
    const fields = labelled(
      "It was",
      outcome,
      "What comes later about the same reopens it, or begins a new case.",
    );
    new ActForm(`Resolve: ${subjectText(one)}`, "Resolve", fields, async (body) => {
      await this.doing(one, "resolve", { ...body, outcome: outcome.value });
      toast(`Resolved: ${outcomeName(outcome.value)}.`);
    }).open();
  }

  assign(one) {
    const name = nameField(one.assignee ?? session.actor);
    const fields = labelled("To", name, "A name as keys and tokens have it.");
    new ActForm(`Assign: ${subjectText(one)}`, "Assign", fields, async (body) => {
      await this.doing(one, "assign", { ...body, assignee: name.value.trim() });
      toast(`Assigned to ${name.value.trim()}.`);
    }).open();
  }

  reopen(one) {
    new ActForm(`Reopen: ${subjectText(one)}`, "Reopen", [], (body) => this.doing(one, "reopen", body))
      .open();
  }

  comment(one) {
    new ActForm(`Comment on ${subjectText(one)}`, "Comment", [], (body) => this.doing(one, "comment", body))
      .open("Comment");
  }

  /** With all cases that a query chooses: how many these are is asked first, and has to be so still when it is done. */
  async bulk(query) {
    let total;
    try {
      ({ body: { total } } = await call(`/v1/cases/summary?${query}`));
    } catch (error) {
      return toast(trouble(error));
    }
    if (total === 0) return toast("No case fits these filters.");
    if (total > 1000) return toast(`${total} cases fit; a thousand are the most at once.`);
    const action = choice([["acknowledge", "Acknowledge"], ["claim", "Claim"], ["assign", "Assign"], [
      "resolve",
      "Resolve",
    ]], { id: "case-bulk-action" });
    const outcome = choice(OUTCOMES, { id: "case-bulk-outcome" });
    const name = nameField(session.actor);
    const outcomePart = labelled("They were", outcome);
    const namePart = labelled("To", name);
    const follow = () => {
      outcomePart.hidden = action.value !== "resolve";
      namePart.hidden = action.value !== "assign";
    };
    action.addEventListener("change", follow);
    follow();
    const what = counted(total, "case");
    new ActForm(
      `With ${total === 1 ? "the one case" : `all ${what}`} of these filters`,
      `Do it with ${what}`,
      [labelled("Do", action), outcomePart, namePart],
      async (body) => {
        const chosen = { ...body, action: action.value, expected: total };
        if (action.value === "resolve") chosen.outcome = outcome.value;
        if (action.value === "assign") chosen.assignee = name.value.trim();
        const done = await call(`/v1/cases/bulk?${query}`, { method: "POST", body: chosen });
        toast(`Done; ${counted(done.body.changed, "case")} changed.`);
        this.changedMany();
      },
    ).open();
    return undefined;
  }

  async now(one, path, text) {
    try {
      await this.doing(one, path);
      toast(text);
    } catch (error) {
      if (!(error instanceof SignedOut)) toast(trouble(error));
    }
  }

  async doing(one, path, body = {}) {
    try {
      this.changed(await send(one, path, body));
    } catch (error) {
      if (error instanceof Problem && [409, 412].includes(error.status)) this.stale(one);
      throw error;
    }
  }
}

function nameField(value) {
  return element("input", { id: "case-to", maxlength: 64, autocomplete: "off", spellcheck: "false", value });
}
