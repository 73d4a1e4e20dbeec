// A question before something that is not easily undone.

import { SignedOut } from "./client.js";
import { byId, setText } from "./dom.js";

let current = null;

/**
 * Asks; `act(reason, alone)` is awaited when the user agrees, and its error is shown in the dialog. `word`: has to be
 * typed first. `reason`: "needed" or "optional" where one is asked for. `alone`: what the button says where somebody
 * chooses to do it without a second person; null where there is no such choice.
 */
export function confirm(
  { title, what, go, word = null, reason = null, alone = null, act, danger = false },
) {
  current = { what, word, reason, act, go, alone, danger };
  setText(byId("confirm-title"), title);
  byId("confirm-alone-choice").hidden = alone === null;
  byId("confirm-alone").checked = false;
  byId("confirm-typing").hidden = word === null;
  setText(byId("confirm-expected"), word ?? "");
  byId("confirm-word").value = "";
  byId("confirm-why").hidden = reason === null;
  byId("confirm-reason").value = "";
  setText(byId("confirm-error"), "");
  check();
  byId("confirm").showModal();
  const first = word !== null ? "confirm-word" : reason !== null ? "confirm-reason" : "confirm-go";
  byId(first).focus();
}

function check() {
  const isAlone = byId("confirm-alone").checked;
  const needsReason = isAlone || current.reason === "needed";
  byId("confirm-reason").required = needsReason;
  setText(
    byId("confirm-reason-hint"),
    `It stands in the history and in the audit trail${needsReason ? "." : ", and may be left open."}`,
  );
  const needsSomebody = current.alone !== null && !isAlone;
  setText(byId("confirm-what"), `${current.what}${needsSomebody ? " Somebody else has to approve it." : ""}`);
  setText(byId("confirm-go"), isAlone ? current.alone : current.go);
  byId("confirm-go").className = isAlone || current.danger ? "danger" : "primary";
  const untyped = current.word !== null && byId("confirm-word").value.trim() !== current.word;
  byId("confirm-go").disabled = untyped || (needsReason && !reasonGiven());
}

function reasonGiven() {
  return byId("confirm-reason").value.trim();
}

async function agree(event) {
  event.preventDefault();
  byId("confirm-go").disabled = true;
  try {
    await current.act(reasonGiven(), byId("confirm-alone").checked);
    byId("confirm").close();
  } catch (error) {
    if (error instanceof SignedOut) byId("confirm").close();
    else setText(byId("confirm-error"), error.message);
    check();
  }
}

/** To be called once, when the page is there. */
export function prepareConfirm() {
  byId("confirm-form").addEventListener("submit", agree);
  byId("confirm-cancel").addEventListener("click", () => byId("confirm").close());
  for (const id of ["confirm-word", "confirm-reason", "confirm-alone"]) {
    byId(id).addEventListener("input", check);
  }
}
