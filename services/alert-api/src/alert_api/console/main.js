// Ties the page together: sign-in, views, readings, and saying plainly what is away or behind.

import { AlertsView } from "./alerts/alerts.js";
import { AuditView } from "./audit/audit.js";
import { CasesView } from "./cases/cases.js";
import { Backtests } from "./backtests/backtests.js";
import { leave, session, SignedOut, SomebodyElse, whoAmI } from "./core/client.js";
import { prepareConfirm } from "./core/confirm.js";
import { ChangesView } from "./changes/changes.js";
import { ControlsView } from "./controls/controls.js";
import { byId, setText, toast } from "./core/dom.js";
import { capital, MANY } from "./core/event_type.js";
import { fullTime, timeOfDay, timeZone } from "./core/format.js";
import { EngineHealth } from "./core/pipeline_health.js";
import { feeds } from "./core/pipeline.js";
import { ListsView } from "./lists/lists.js";
import { KeysView } from "./keys/keys.js";
import { Mappings } from "./mappings/mappings.js";
import { HealthView } from "./live/health.js";
import { LiveView } from "./live/live.js";
import { here, onMove } from "./core/router.js";
import { RejectedView } from "./rejected/rejected.js";
import { RulePage } from "./rule/rule_page.js";
import { RulesView } from "./rules/rules.js";
import { askForKey, prepareSignIn } from "./core/sign_in.js";
import { AlertStream } from "./core/stream.js";
import { Tabs } from "./core/tabs.js";
import { followTheme } from "./core/theme.js";
import { WebhooksView } from "./webhooks/webhooks.js";

const ENDED = "Your session has ended. Sign in again.";
const CHIPS = {
  good: "Engine keeps up",
  behind: "Engine behind",
  starting: "Engine starting",
  away: "Engine away",
  unknown: "Engine",
};
const TITLES = {
  live: "Live",
  health: "Health",
  cases: "Cases",
  webhooks: "Webhooks",
  rules: "Rules",
  lists: "Lists",
  alerts: "Alerts",
  changes: "Changes",
  controls: "Controls",
  rejected: "Rejected records",
  audit: "Audit trail",
  keys: "API keys",
};

const tabs = new Tabs(byId("tabs"));
const health = new EngineHealth();
const views = {
  live: new LiveView(health),
  health: new HealthView(),
  cases: new CasesView(),
  webhooks: new WebhooksView(),
  rules: new RulesView(new RulePage(), new Backtests(), new Mappings()),
  lists: new ListsView(),
  alerts: new AlertsView(),
  changes: new ChangesView(),
  controls: new ControlsView(),
  rejected: new RejectedView(),
  audit: new AuditView(),
  keys: new KeysView(),
};
const alertService = { title: "The alert service", trouble: null, goodAt: null };
const stream = new AlertStream({
  onEvent(kind, alert) {
    views.live.alert(kind, alert);
    views.alerts.alert(kind, alert);
    views.cases.alert();
  },
  onHealth(trouble) {
    alertService.trouble = trouble;
    if (trouble === null) alertService.goodAt = Date.now();
    views.live.streaming(trouble === null);
    if (trouble === null) views.alerts.catchUp();
    if (trouble === null) views.cases.alert();
  },
  onFull() {
    alertService.trouble = null;
    views.live.readNewest();
    views.alerts.catchUp();
  },
  onSignedOut: forgotten,
});

/** The session that this page is of is not there any more. */
function forgotten(error) {
  if (!session.token) return;
  signOut(ENDED);
  if (error instanceof SomebodyElse) resume().then(tellWho);
}

function tellWho() {
  if (session.token) toast(`This browser is signed in as ${session.actor} now.`);
}

/** Ends the session, in other windows of this browser too. */
async function end() {
  try {
    await leave();
  } catch (error) {
    if (error instanceof SignedOut) return forgotten(error);
    return toast(`You are still signed in: ${error.message}`);
  }
  return signOut();
}

function signOut(reason = "") {
  session.close();
  stream.stop();
  health.forget();
  for (const feed of Object.values(feeds)) feed.forget();
  for (const view of Object.values(views)) view.forget();
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  ask(reason);
}

/** Shows the form to sign in with. */
function ask(reason = "") {
  alertService.trouble = null;
  show(false);
  askForKey(reason);
}

function show(signedIn) {
  byId("sign-in").hidden = signedIn;
  for (const id of ["workspace", "tabs", "engine-chip", "sign-out"]) byId(id).hidden = !signedIn;
  if (!signedIn) byId("notice").hidden = true;
}

/** In a session that is open: who it is, and everything starts. */
function begin(who) {
  session.open(who);
  setText(byId("who"), `Signed in as ${who.actor}`);
  byId("who").title = [who.role, who.expiresAt && `until ${fullTime(who.expiresAt)}`].filter(Boolean).join(
    ", ",
  );
  for (const link of document.querySelectorAll("[data-scope]")) {
    link.hidden = !session.may(link.dataset.scope);
  }
  alertService.trouble = null;
  show(true);
  stream.start();
  for (const feed of Object.values(feeds)) feed.hurry();
  move(here());
}

/** Goes on in the session that this browser has, or asks who it is. */
async function resume() {
  for (;;) {
    try {
      return begin(await whoAmI());
    } catch (error) {
      if (error instanceof SignedOut) return ask(error.wasIn ? ENDED : "");
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
  tabs.choose(route.view);
}

/** What is away or behind, in whole sentences at the top of the page. */
function announce() {
  if (!session.token && !alertService.trouble) return;
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
setText(byId("watched"), `${capital(MANY)} are being watched. Sign in to see what tripped.`);
prepareSignIn(begin);
byId("sign-out").addEventListener("click", end);
onMove(move);
for (const feed of Object.values(feeds)) feed.run(forgotten);
setInterval(() => {
  announce();
  for (const view of Object.values(views)) view.tick?.(Date.now());
}, 1000);
resume();
