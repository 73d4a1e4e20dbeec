// The dialog that takes an alert in hand.

import { Away, call, Problem, SignedOut } from "../core/client.js";
import { byId, setText, toast } from "../core/dom.js";
import { fullTime } from "../core/format.js";
import { summary } from "./alert_row.js";

const listeners = [];
let alert = null;

/** Calls `listener(alert)` with every alert that was acknowledged here, as it is then. */
export function onAcknowledged(listener) {
  listeners.push(listener);
}

export function openAcknowledge(chosen) {
  alert = chosen;
  byId("comment").value = "";
  setText(byId("acknowledge-error"), "");
  setText(byId("acknowledge-what"), summary(chosen));
  byId("acknowledge").showModal();
  byId("comment").focus();
}

async function send(event) {
  event.preventDefault();
  const button = byId("acknowledge-confirm");
  const comment = byId("comment").value.trim();
  button.disabled = true;
  try {
    const { body } = await call(`/v1/alerts/${alert.alertId}/acknowledge`, {
      method: "POST",
      body: comment ? { comment } : {},
    });
    done("Acknowledged. It is yours now.", body);
  } catch (error) {
    explain(error);
  } finally {
    button.disabled = false;
  }
}

function done(text, now) {
  byId("acknowledge").close();
  toast(text);
  for (const listener of listeners) listener(now);
}

function explain(error) {
  const say = (text) => setText(byId("acknowledge-error"), text);
  if (error instanceof SignedOut) {
    byId("acknowledge").close();
  } else if (error instanceof Problem && error.status === 409) {
    const { acknowledgedBy, acknowledgedAt } = error.body;
    done(`${acknowledgedBy} was first, ${fullTime(acknowledgedAt)}.`, {
      ...alert,
      state: "acknowledged",
      acknowledgedBy,
      acknowledgedAt,
    });
  } else if (error instanceof Problem && error.status === 403) {
    say("Your key may look at alerts, but not acknowledge them.");
  } else if (error instanceof Away) {
    say("The alert service does not answer. Nothing was changed that you can't repeat: try again.");
  } else {
    say(error.message);
  }
}

byId("acknowledge-form").addEventListener("submit", send);
byId("acknowledge-cancel").addEventListener("click", () => byId("acknowledge").close());
