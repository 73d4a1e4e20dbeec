// One webhook: where it leads to, what it is told of, how that goes, and what can be done with it.

import { session } from "../core/client.js";
import { button, element } from "../core/dom.js";
import { ago, counted, fullTime } from "../core/format.js";
import { deliveryName, outcomeText, stateTag, toldText } from "./webhook_words.js";

const MOST_DEAD = 1000;

/** `acts` has a function for each thing that can be done. */
export function webhookItem(webhook, acts) {
  const { webhookId, name, url, template, state, deadCount, lastDelivery } = webhook;
  return element(
    "li",
    { class: "rule webhook", dataset: { webhookId, state } },
    element(
      "div",
      { class: "rule-main" },
      element(
        "div",
        { class: "rule-head" },
        element("b", { class: "rule-name" }, name),
        stateTag(webhook),
        template === "slack" && element("span", { class: "tag" }, "Slack"),
        lastDelivery?.state === "retrying" && element("span", { class: "tag warn" }, "is tried again"),
        deadCount > 0 && element("span", { class: "tag alarm" }, deadText(deadCount)),
      ),
      element("p", { class: "mono webhook-url" }, url),
      element("p", {}, `${toldText(webhook)}.`),
      element("p", { class: "muted small" }, lastText(webhook)),
      element("p", { class: "muted small" }, peopleText(webhook)),
      webhook.formerSecretUntil > Date.now() &&
        element(
          "p",
          { class: "muted small" },
          `Signs with its former secret too, until ${fullTime(webhook.formerSecretUntil)}.`,
        ),
    ),
    element("div", { class: "rule-acts" }, buttons(webhook, acts)),
  );
}

function buttons(webhook, acts) {
  const { name, state, requestedBy } = webhook;
  const does = (text, act, kind = "quiet") =>
    button(text, () => acts[act](webhook), { kind, "aria-label": `${text}: ${name}` });
  const approves = state === "requested" && session.may("rules:approve") && requestedBy !== session.actor;
  const commands = session.may("controls:write");
  return [
    approves && does("Approve", "approve", "primary"),
    does("Deliveries", "look"),
    commands && state === "active" && does("Send a test", "test"),
    commands && (webhook.pausedAt === null ? does("Pause", "pause") : does("Resume", "resume")),
    commands && does("Change", "change"),
    commands && does("New secret", "rotate"),
    commands && does("Replay", "replay"),
    commands && does("Remove", "remove"),
  ];
}

function deadText(count) {
  return count >= MOST_DEAD ? `${count} dead letters or more` : counted(count, "dead letter");
}

function lastText({ state, lastDelivery }) {
  const waits = state === "active" ? "" : " What happens meanwhile waits.";
  if (lastDelivery === null) return `It was told nothing yet.${waits}`;
  const when = ago(lastDelivery.changedAt, Date.now());
  return `${deliveryName(lastDelivery)}, ${when}: ${outcomeText(lastDelivery)}.${waits}`;
}

function peopleText({ version, requestedBy, requestedAt, approvedBy, approvedAt, pausedBy, pausedAt }) {
  return [
    `${version > 1 ? "Changed" : "Asked for"} by ${requestedBy}, ${fullTime(requestedAt)}.`,
    approvedBy !== null && `Approved by ${approvedBy}, ${fullTime(approvedAt)}.`,
    pausedBy !== null && `Paused by ${pausedBy}, ${fullTime(pausedAt)}.`,
  ].filter(Boolean).join(" ");
}
