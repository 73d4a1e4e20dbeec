// Ties the page together: sign-in, rounds of reading, and saying which service is away.

import { AlertList } from "./alerts.js";
import { Away, Problem, SignedOut, call, session } from "./client.js";
import { byId, setText } from "./dom.js";
import { timeOfDay } from "./format.js";
import { RuleList } from "./rules.js";
import { followTheme } from "./theme.js";

const ROUND_MS = 1000;
const UNKNOWN_KEY = "This key is not known here.";

const alerts = new AlertList(signOut);
const rules = new RuleList();
const services = {
  alerts: { name: "The alert service", chip: byId("service-alerts"), since: null, trouble: null },
  rules: { name: "The rules registry", chip: byId("service-rules"), since: null, trouble: null },
};

function signOut(reason = "") {
  session.close();
  alerts.reset();
  rules.reset();
  show(false);
  setText(byId("key-error"), reason);
  byId("key").value = "";
  byId("key").focus();
}

function show(signedIn) {
  byId("sign-in").hidden = signedIn;
  for (const id of ["workspace", "services", "sign-out"]) byId(id).hidden = !signedIn;
  if (!signedIn) byId("notice").hidden = true;
}

async function signIn(event) {
  event.preventDefault();
  const key = byId("key").value.trim();
  const button = byId("sign-in-button");
  if (!key) return setText(byId("key-error"), "Enter your API key.");
  // A header takes no other characters, so no key has them.
  if (!/^[\x21-\x7e]+$/.test(key)) return setText(byId("key-error"), UNKNOWN_KEY);
  button.disabled = true;
  setText(byId("key-error"), "");
  try {
    await call("/v1/alerts?limit=1", { key });
    session.open(key);
    show(true);
    byId("alerts").focus();
  } catch (error) {
    setText(byId("key-error"), refusal(error));
  } finally {
    button.disabled = false;
  }
  return undefined;
}

function refusal(error) {
  if (error instanceof SignedOut) return UNKNOWN_KEY;
  if (error instanceof Problem && error.status === 403) return "This key may not read alerts.";
  return "The alert service does not answer. Try again in a moment.";
}

/** One reading of one service, and what the header says about it afterwards. */
async function read(service, refresh) {
  try {
    await refresh();
    service.since = null;
    service.trouble = null;
    service.good = Date.now();
  } catch (error) {
    if (error instanceof SignedOut) {
      if (session.key) signOut("This key is not known any more. Sign in again.");
      return;
    }
    service.since ??= Date.now();
    service.trouble = error instanceof Away ? "does not answer" : `refuses: ${error.message}`;
  }
  service.chip.dataset.health = service.trouble ? "away" : "good";
  service.chip.title = service.trouble ? `${service.name} ${service.trouble}` : `${service.name} answers`;
}

function announce() {
  const troubled = Object.values(services).filter((service) => service.trouble);
  const sentences = troubled.map((service) => {
    const age = service.good ? ` What you see is from ${timeOfDay(service.good)}.` : "";
    return `${service.name} ${service.trouble}.${age}`;
  });
  const notice = byId("notice");
  notice.hidden = sentences.length === 0 || !session.key;
  setText(notice, sentences.length ? `${sentences.join(" ")} Trying again every second.` : "");
}

/** Rounds of one service; the other's slowness does not hold it up. A hidden tab reads nothing. */
async function keepReading(service, refresh) {
  for (;;) {
    if (session.key && !document.hidden) {
      await read(service, refresh);
      announce();
    }
    await new Promise((resume) => setTimeout(resume, ROUND_MS));
  }
}

function switchViews() {
  for (const button of document.querySelectorAll("[data-show]")) {
    button.addEventListener("click", () => {
      byId("columns").dataset.view = button.dataset.show;
      for (const each of document.querySelectorAll("[data-show]")) {
        each.setAttribute("aria-pressed", String(each === button));
      }
    });
  }
}

followTheme(byId("theme"));
switchViews();
byId("sign-in-form").addEventListener("submit", signIn);
byId("sign-out").addEventListener("click", () => signOut());
show(Boolean(session.key));
if (!session.key) byId("key").focus();
setInterval(() => alerts.tick(Date.now()), ROUND_MS);
keepReading(services.alerts, () => alerts.refresh());
keepReading(services.rules, () => rules.refresh());
