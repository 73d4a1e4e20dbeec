// A question before something that is not easily undone.

import { SignedOut } from "./client.js";
import { byId, setText } from "./dom.js";

let current = null;

/**
 * Asks; `act(reason)` is awaited when the user agrees, and its error is shown in the dialog. `word`: has to be
 * typed first. `reason`: "needed" or "optional" where one is asked for.
 */
export function confirm({ title, what, go, word = null, reason = null, act, danger = false }) {
  current = { word, reason, act };
  setText(byId("confirm-title"), title);
  setText(byId("confirm-what"), what);
  setText(byId("confirm-go"), go);
  byId("confirm-go").className = danger ? "danger" : "primary";
  byId("confirm-typing").hidden = word === null;
  setText(byId("confirm-expected"), word ?? "");
  byId("confirm-word").value = "";
  byId("confirm-why").hidden = reason === null;
  byId("confirm-reason").value = "";
  byId("confirm-reason").required = reason === "needed";
  setText(
    byId("confirm-reason-hint"),
    `It stands in the history and in the audit trail${reason === "needed" ? "." : ", and may be left open."}`,
  );
  setText(byId("confirm-error"), "");
  check();
  byId("confirm").showModal();
  const first = word !== null ? "confirm-word" : reason !== null ? "confirm-reason" : "confirm-go";
  byId(first).focus();
}

function check() {
  const untyped = current.word !== null && byId("confirm-word").value.trim() !== current.word;
  byId("confirm-go").disabled = untyped || (current.reason === "needed" && !reasonGiven());
}

function reasonGiven() {
  return byId("confirm-reason").value.trim();
}

async function agree(event) {
  event.preventDefault();
  byId("confirm-go").disabled = true;
  try {
    await current.act(reasonGiven());
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
  for (const id of ["confirm-word", "confirm-reason"]) byId(id).addEventListener("input", check);
}
