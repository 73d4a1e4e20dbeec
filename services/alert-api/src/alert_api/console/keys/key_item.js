// One API key as an item of the list: whose, what it is good for, and what may be done with it.

import { button, element } from "../core/dom.js";
import { ago, fullTime } from "../core/format.js";

const STATES = { ACTIVE: ["active", "good"], EXPIRED: ["expired", "warn"], REVOKED: ["revoked", "alarm"] };
const SOON_MS = 14 * 86_400_000;

/** `choices` are `rotate(key)` and `revoke(key)`. */
export function keyItem(key, choices) {
  const [state, colour] = STATES[key.state];
  return element(
    "li",
    { class: "rule given-key", dataset: { name: key.name } },
    element(
      "div",
      { class: "rule-main" },
      element(
        "div",
        { class: "rule-head" },
        element("b", { class: "rule-name" }, key.name),
        element("span", { class: "tag" }, key.role),
        element("span", { class: `tag ${colour}` }, state),
        endsSoon(key) && element("span", { class: "tag warn" }, "ends soon"),
      ),
      element("p", { class: "muted small" }, "begins with ", element("span", { class: "mono" }, key.prefix)),
      element("p", { class: "muted small" }, sentences(key).join(" ")),
    ),
    key.state !== "REVOKED" && element(
      "div",
      { class: "rule-acts" },
      button("Rotate", () => choices.rotate(key), { "aria-label": `Rotate: ${key.name}` }),
      button("Revoke", () => choices.revoke(key), { "aria-label": `Revoke: ${key.name}` }),
    ),
  );
}

function endsSoon({ state, expiresAt }) {
  return state === "ACTIVE" && expiresAt !== null && expiresAt - Date.now() < SOON_MS;
}

function sentences(key) {
  const isRevoked = key.state === "REVOKED";
  return [
    `Given out by ${key.createdBy}, ${fullTime(key.createdAt)}.`,
    key.rotatedAt !== null && `Rotated ${fullTime(key.rotatedAt)}.`,
    key.previousUntil !== null && !isRevoked &&
    `The one before is good until ${fullTime(key.previousUntil)}.`,
    isRevoked ? `Revoked by ${key.revokedBy}, ${fullTime(key.revokedAt)}.` : end(key),
    key.lastUsedAt === null ? "Never used." : `Last used ${lastUse(key.lastUsedAt)}.`,
  ].filter(Boolean);
}

/** To the minute, as it is kept. */
function lastUse(ms) {
  const now = Date.now();
  return now - ms < 120_000 ? "within two minutes" : ago(ms, now);
}

function end({ state, expiresAt }) {
  if (expiresAt === null) return "It does not end.";
  return `${state === "EXPIRED" ? "Ended" : "Ends"} ${fullTime(expiresAt)}.`;
}
