// The form to sign in with. The key goes to the service and is kept nowhere here.

import { enter, leave, Problem, session, SignedOut, whoAmI } from "./client.js";
import { byId, setText } from "./dom.js";

const UNKNOWN_KEY = "This key is not known here.";
const NOT_KEPT = "This browser did not keep the session. Open the console over https, or on this machine.";
const AWAY = "The alert service does not answer. Try again in a moment.";

/** To be called once, when the page is there; `begin(who)` is called for each who is let in. */
export function prepareSignIn(begin) {
  byId("sign-in-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = byId("sign-in-button");
    button.disabled = true;
    say("");
    say(await signIn(byId("key").value.trim(), begin));
    button.disabled = false;
  });
}

/** Empties the form, says why somebody has to sign in, and waits there. */
export function askForKey(reason = "") {
  say(reason);
  byId("key").value = "";
  byId("key").focus();
}

function say(reason) {
  setText(byId("key-error"), reason);
}

/** Why it failed, in words; nothing where it did not. */
async function signIn(key, begin) {
  if (!key) return "Enter your API key or token.";
  // A header takes no other characters, so no key has them.
  if (!/^[\x21-\x7e]+$/.test(key)) return UNKNOWN_KEY;
  try {
    await enter(key);
    byId("key").value = "";
    return await started(begin);
  } catch (error) {
    return error instanceof SignedOut || error instanceof Problem ? error.message : AWAY;
  }
}

/** Begins with the session that was opened just now. */
async function started(begin) {
  let who;
  try {
    who = await whoAmI();
  } catch (error) {
    if (error instanceof SignedOut) return NOT_KEPT;
    throw error;
  }
  if (!who.scopes.includes("alerts:read")) {
    session.open(who);
    await leave();
    session.close();
    return "This key may not read alerts.";
  }
  begin(who);
  byId("workspace").focus({ preventScroll: true });
  return "";
}
