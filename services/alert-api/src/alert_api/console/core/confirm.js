// A question before something that is not easily undone.

import { SignedOut } from "./client.js";
import { byId, setText } from "./dom.js";

let current = null;

/**
 * Asks; `act` is awaited when the user agrees, and its error is shown in the dialog. `word`: has to be typed
 * first.
 */
export function confirm({ title, what, go, word = null, act, danger = false }) {
  current = { word, act };
  setText(byId("confirm-title"), title);
  setText(byId("confirm-what"), what);
  setText(byId("confirm-go"), go);
  byId("confirm-go").className = danger ? "danger" : "primary";
  byId("confirm-typing").hidden = word === null;
  setText(byId("confirm-expected"), word ?? "");
  byId("confirm-word").value = "";
  setText(byId("confirm-error"), "");
  check();
  byId("confirm").showModal();
  (word === null ? byId("confirm-go") : byId("confirm-word")).focus();
}

function check() {
  byId("confirm-go").disabled = current.word !== null && byId("confirm-word").value.trim() !== current.word;
}

async function agree(event) {
  event.preventDefault();
  byId("confirm-go").disabled = true;
  try {
    await current.act();
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
  byId("confirm-word").addEventListener("input", check);
}
