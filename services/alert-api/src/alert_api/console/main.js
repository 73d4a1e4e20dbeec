// Ties the page together: sign-in, views, readings, and saying plainly what is away or behind.

import { AlertsView } from "./alerts/alerts.js";
import { AuditView } from "./audit/audit.js";
import { call, Problem, session, SignedOut } from "./core/client.js";
import { prepareConfirm } from "./core/confirm.js";
import { ChangesView } from "./changes/changes.js";
import { ControlsView } from "./controls/controls.js";
import { byId, setText } from "./core/dom.js";
import { capital, MANY } from "./core/event_type.js";
import { timeOfDay, timeZone } from "./core/format.js";
import { EngineHealth } from "./core/pipeline_health.js";
import { feeds } from "./core/pipeline.js";
import { ListsView } from "./lists/lists.js";
import { LiveView } from "./live/live.js";
import { here, onMove } from "./core/router.js";
import { RulePage } from "./rule/rule_page.js";
import { RulesView } from "./rules/rules.js";
import { AlertStream } from "./core/stream.js";
import { followTheme } from "./core/theme.js";

const UNKNOWN_KEY = "This key is not known here.";
const CHIPS = {
  good: "Engine keeps up",
  behind: "Engine behind",
  starting: "Engine starting",
  away: "Engine away",
  unknown: "Engine",
};
const TITLES = {
  live: "Live",
  rules: "Rules",
  lists: "Lists",
  alerts: "Alerts",
  changes: "Changes",
  controls: "Controls",
  audit: "Audit trail",
};

const health = new EngineHealth();
const views = {
  live: new LiveView(health),
  rules: new RulesView(new RulePage()),
  lists: new ListsView(),
  alerts: new AlertsView(),
  changes: new ChangesView(),
  controls: new ControlsView(),
  audit: new AuditView(),
};
const alertService = { title: "The alert service", trouble: null, goodAt: null };
const stream = new AlertStream({
  onEvent(kind, alert) {
    views.live.alert(kind, alert);
    views.alerts.alert(kind, alert);
  },
  onHealth(trouble) {
    alertService.trouble = trouble;
    if (trouble === null) alertService.goodAt = Date.now();
    views.live.streaming(trouble === null);
    if (trouble === null) views.alerts.catchUp();
  },
  onFull() {
    alertService.trouble = null;
    views.live.readNewest();
    views.alerts.catchUp();
  },
  onSignedOut: forgotten,
});

function forgotten() {
  if (session.key) signOut("This key is not known any more. Sign in again.");
}

function signOut(reason = "") {
  session.close();
  session.actor = "";
  stream.stop();
  health.forget();
  for (const feed of Object.values(feeds)) feed.forget();
  for (const view of Object.values(views)) view.forget();
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  show(false);
  setText(byId("key-error"), reason);
  byId("key").value = "";
  byId("key").focus();
}

function show(signedIn) {
  byId("sign-in").hidden = signedIn;
  for (const id of ["workspace", "tabs", "engine-chip", "sign-out"]) byId(id).hidden = !signedIn;
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
    const { body } = await call("/console/session", { key });
    if (!body.scopes.includes("alerts:read")) {
      return setText(byId("key-error"), "This key may not read alerts.");
    }
    session.open(key);
    begin(body);
    byId("workspace").focus();
  } catch (error) {
    setText(
      byId("key-error"),
      error instanceof SignedOut
        ? UNKNOWN_KEY
        : error instanceof Problem
        ? error.message
        : "The alert service does not answer. Try again in a moment.",
    );
  } finally {
    button.disabled = false;
  }
  return undefined;
}

/** With a key that is known: who it is, and everything starts. */
function begin({ actor, scopes }) {
  session.actor = actor;
  session.scopes = new Set(scopes);
  setText(byId("who"), `Signed in as ${actor}`);
  for (const link of document.querySelectorAll("[data-scope]")) {
    link.hidden = !session.may(link.dataset.scope);
  }
  show(true);
  stream.start();
  for (const feed of Object.values(feeds)) feed.hurry();
  move(here());
}

async function resume() {
  show(true);
  for (;;) {
    try {
      return begin((await call("/console/session")).body);
    } catch (error) {
      if (error instanceof SignedOut) return forgotten();
      alertService.trouble = "does not answer";
      announce();
    }
    await new Promise((again) => setTimeout(again, 1500));
  }
}

function move(route) {
  // a view may know a better one
  document.title = `${TITLES[route.view]} \u2013 Tripline`;
  for (const [name, view] of Object.entries(views)) {
    // Nothing to choose from before the view has read the address: what is chosen would forget the rest of
    // it.
    const chosen = name === route.view && Boolean(session.actor);
    byId(name).hidden = !chosen;
    if (chosen) view.open(route);
  }
  for (const link of document.querySelectorAll("[data-view]")) {
    if (link.dataset.view === route.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** What is away or behind, in whole sentences at the top of the page. */
function announce() {
  if (!session.key) return;
  const verdict = health.verdict();
  const chip = byId("engine-chip");
  chip.dataset.level = verdict.level;
  setText(chip, CHIPS[verdict.level]);
  chip.title = verdict.text;
  const away = [alertService, feeds.rules, feeds.transactions].filter((feed) =>
    feed.trouble && feed.state !== "absent"
  );
  const sentences = away.map((feed) =>
    `${feed.title} ${feed.trouble}.${
      feed.goodAt ? ` What you see of it is from ${timeOfDay(feed.goodAt)}.` : ""
    }`
  );
  if (["away", "behind", "starting"].includes(verdict.level)) sentences.unshift(verdict.text);
  const notice = byId("notice");
  notice.hidden = sentences.length === 0;
  notice.dataset.level = away.length || verdict.level === "away" ? "away" : "behind";
  setText(notice, sentences.join(" "));
}

followTheme(byId("theme"));
prepareConfirm();
setText(byId("time-zone"), timeZone());
setText(byId("watched"), `${capital(MANY)} are being watched. Your API key shows you what tripped.`);
byId("sign-in-form").addEventListener("submit", signIn);
byId("sign-out").addEventListener("click", () => signOut());
onMove(move);
for (const feed of Object.values(feeds)) feed.run(forgotten);
setInterval(() => {
  announce();
  for (const view of Object.values(views)) view.tick?.(Date.now());
}, 1000);
if (session.key) resume();
else {
  show(false);
  byId("key").focus();
}
