// Which view is shown stands in the address: it can be kept, sent to somebody, gone back to.

const VIEWS = [
  "live",
  "health",
  "cases",
  "webhooks",
  "rules",
  "lists",
  "alerts",
  "changes",
  "controls",
  "rejected",
  "audit",
  "keys",
];
const listeners = [];

/** `{view, id, query}` of the address as it is now. */
export function here() {
  const [, view, id = null] = location.pathname.split("/");
  return { view: VIEWS.includes(view) ? view : "live", id, query: new URLSearchParams(location.search) };
}

/** Goes to another address of the console; `replace` leaves no step to go back to. */
export function go(address, { replace = false } = {}) {
  if (address !== location.pathname + location.search) {
    history[replace ? "replaceState" : "pushState"](null, "", address);
  }
  tell();
}

/** Calls `listener(here())` now and whenever the address changes. */
export function onMove(listener) {
  listeners.push(listener);
  listener(here());
}

function tell() {
  for (const listener of listeners) listener(here());
}

window.addEventListener("popstate", tell);
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-go]");
  if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});
