// The dialog in which a draft is edited.

import { byId, setText } from "../core/dom.js";
import { feeds } from "../core/pipeline.js";
import { RuleForm } from "../rules/rule_form.js";

/** `onDone()` is called once there is a next revision. */
export function editDraft(change, onDone) {
  const rule = feeds.rules.data?.find(({ ruleId }) => ruleId === change.ruleId);
  const draft = { ...change.content, name: change.content.name ?? rule?.name ?? "" };
  const form = new RuleForm(draft, () => {
    byId("rule-dialog").close();
    onDone();
  }, { path: `/changes/${change.changeId}`, version: change.revision, go: "Save the draft" });
  setText(byId("rule-dialog-title"), `Edit change ${change.changeId}`);
  byId("rule-dialog-body").replaceChildren(form.element);
  byId("rule-dialog").showModal();
  form.name.focus();
}
