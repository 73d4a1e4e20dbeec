// A backtest in words: how it stands, what it is of, what came of it.

import { counted, figure, fullTime } from "../core/format.js";

const DAY_MS = 86_400_000;
const STATES = {
  queued: "waits for its turn",
  running: "running",
  cancelling: "is being cancelled",
  done: "done",
  failed: "failed",
  cancelled: "cancelled",
};

export function isOpen({ state }) {
  return state === "queued" || state === "running" || state === "cancelling";
}

export function titleOf({ rules }) {
  const [first] = rules;
  const name = `${first.name}${first.ruleId === null ? " (draft)" : `, version ${first.version}`}`;
  return rules.length === 1 ? name : `${name} and ${counted(rules.length - 1, "other rule")}`;
}

export function spanOf({ from, to, knowledge }) {
  return `${fullTime(from)} to ${fullTime(to)}${knowledge === "today" ? ", as we know today" : ""}`;
}

/** How it stands, and what there is to wait for. */
export function standing({ state, progress, failure, note }) {
  const parts = [STATES[state]];
  if (state === "running") parts.push(`${progress.percent} %`, alertsText(progress.alerts));
  if (progress.secondsLeft !== null) parts.push(`about ${duration(progress.secondsLeft)} left`);
  return `${parts.join(", ")}${failure === null ? "" : `: ${failure}`}${
    note === null ? "" : ` \u2013 ${note}`
  }`;
}

/** "12 alerts in 3 groups, 4.2 a day" */
export function outcome({ from, to }, { alerts, groups }) {
  const days = (to - from) / DAY_MS;
  const daily = days > 0 ? `, ${figure(alerts / days)} a day` : "";
  return `${alertsText(alerts)} in ${counted(figure(groups), "group")}${daily}`;
}

/** What a live rule gave over the same span, beside it; null where there is none. */
export function overlap({ beside }) {
  if (beside === null) return null;
  const { ruleId, both, onlyTried, onlyLive } = beside;
  return `Beside rule ${ruleId}: ${figure(both)} of both, ${figure(onlyTried)} only of this one, ${
    figure(onlyLive)
  } only of the live one`;
}

/** "83 %" of "0.8333"; a dash where nothing was decided. */
export function share(text) {
  return text === null ? "\u2013" : `${Math.round(100 * Number(text))} %`;
}

function alertsText(count) {
  return `${figure(count)} ${count === 1 ? "alert" : "alerts"}`;
}

function duration(seconds) {
  if (seconds < 100) return `${seconds} s`;
  return seconds < 6000 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
