// Ties the page together: sign-in, views, readings, and saying plainly what is away or behind.

import { leave, session, SignedOut, SomebodyElse, whoAmI } from "./core/client.js";
import { prepareConfirm } from "./core/confirm.js";
import { byId, setText, toast } from "./core/dom.js";
import { capital, MANY } from "./core/event_type.js";
import { fullTime, timeOfDay, timeZone } from "./core/format.js";
import { EngineHealth } from "./core/pipeline_health.js";
import { feeds } from "./core/pipeline.js";
import { here, onMove } from "./core/router.js";
import { askForKey, prepareSignIn } from "./core/sign_in.js";
import { AlertStream } from "./core/stream.js";
import { Tabs } from "./core/tabs.js";
import { followTheme } from "./core/theme.js";
import { Views } from "./core/views.js";

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
const views = new Views({
  live: async () => new (await import("./live/live.js")).LiveView(health),
  health: async () => new (await import("./live/health.js")).HealthView(),
  cases: async () => new (await import("./cases/cases.js")).CasesView(),
  webhooks: async () => new (await import("./webhooks/webhooks.js")).WebhooksView(),
  rules: makeRules,
  lists: async () => new (await import("./lists/lists.js")).ListsView(),
  alerts: async () => new (await import("./alerts/alerts.js")).AlertsView(),
  changes: async () => new (await import("./changes/changes.js")).ChangesView(),
  controls: async () => new (await import("./controls/controls.js")).ControlsView(),
  rejected: async () => new (await import("./rejected/rejected.js")).RejectedView(),
  audit: async () => new (await import("./audit/audit.js")).AuditView(),
  keys: async () => new (await import("./keys/keys.js")).KeysView(),
});
let moves = 0;
const alertService = { title: "The alert service", trouble: null, goodAt: null };
const stream = new AlertStream({
  onEvent(kind, alert) {
    views.tell("alert", kind, alert);
  },
  onHealth(trouble) {
    alertService.trouble = trouble;
    if (trouble !== null) return;
    alertService.goodAt = Date.now();
    views.tell("catchUp");
  },
  onFull() {
    alertService.trouble = null;
    views.tell("catchUp");
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
  views.tell("forget");
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
  for (const name of Object.keys(TITLES)) {
    // Nothing to choose from before the view has read the address: what is chosen would forget the rest of
    // it.
    byId(name).hidden = !(name === route.view && session.actor);
  }
  tabs.choose(route.view);
  openView(route);
}

/** Opens the view of that address, unless somebody went elsewhere while it was fetched. */
function openView(route) {
  const thisMove = (moves += 1);
  const unfetched = byId("unfetched");
  unfetched.hidden = true;
  views.use(route.view, (view) => {
    if (thisMove !== moves || !session.actor) return;
    view.open(route);
    // Its charts show what is gathered while other views are open, too.
    views.use("live", () => {});
  }, () => {
    unfetched.hidden = thisMove !== moves;
  });
}

/** The rules with what is below them. */
async function makeRules() {
  const [{ RulesView }, { RulePage }, { Backtests }, { Mappings }] = await Promise.all([
    import("./rules/rules.js"),
    import("./rule/rule_page.js"),
    import("./backtests/backtests.js"),
    import("./mappings/mappings.js"),
  ]);
  return new RulesView(new RulePage(), new Backtests(), new Mappings());
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
byId("rule-dialog-close").addEventListener("click", () => byId("rule-dialog").close());
onMove(move);
for (const feed of Object.values(feeds)) feed.run(forgotten);
setInterval(() => {
  announce();
  views.tell("tick", Date.now());
}, 1000);
resume();
