// Triage by keyboard: j and k go down and up, a acknowledges, e claims, r resolves, ? tells so.

import { session } from "../core/client.js";
import { here } from "../core/router.js";

const EDITED = "input, select, textarea, [contenteditable]";

/** Calls `handlers[key]()` while the cases are shown and nothing is typed or asked. */
export function prepareTriageKeys(handlers) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat && !"jk".includes(event.key)) return;
    if (here().view !== "cases" || !session.token || document.querySelector("dialog[open]")) return;
    if (event.target.closest?.(EDITED) && event.target.type !== "radio") return;
    const handler = handlers[event.key];
    if (!handler) return;
    event.preventDefault();
    handler();
  });
}
