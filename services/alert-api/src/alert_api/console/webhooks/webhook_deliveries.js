// What one webhook was told and what came of it, and what people did with it.

import { call, session } from "../core/client.js";
import { button, choice, element, labelled, setText } from "../core/dom.js";
import { fullTime } from "../core/format.js";
import { deliveryName, outcomeText, PING, resultTag, stepText } from "./webhook_words.js";

const SHOWN = 25;
const STATES = [["", "all"], ["dead", "dead letters"], ["retrying", "tried again"], ["delivered", "taken"]];

export class WebhookDeliveries {
  /** `replay(position)` has it told again from behind that position. */
  constructor({ webhookId, deadCount }, replay) {
    Object.assign(this, { webhookId, replay, generation: 0 });
    this.state = choice(STATES, { id: "delivery-state", on: { change: () => this.begin() } });
    this.state.value = deadCount ? "dead" : "";
    this.list = element("ol", { class: "webhook-log", "aria-label": "What it was told" });
    this.empty = element("p", { class: "empty" });
    this.more = button("Show older", () => this.read(this.next), { class: "quiet wide", hidden: true });
    this.steps = element("ol", { class: "webhook-log", "aria-label": "What people did" });
    this.earlier = button("Show earlier", () => this.readSteps(this.before), {
      class: "quiet wide",
      hidden: true,
    });
    this.error = element("p", { class: "error", role: "alert" });
    this.element = element(
      "div",
      { class: "webhook-look" },
      labelled("Deliveries", this.state),
      this.error,
      this.list,
      this.empty,
      this.more,
      element("h3", {}, "What people did"),
      this.steps,
      this.earlier,
    );
    this.begin();
    this.readSteps(`/v1/webhooks/history?webhookId=${webhookId}&limit=${SHOWN}`);
  }

  focus() {
    this.state.focus();
  }

  begin() {
    this.generation += 1;
    this.list.replaceChildren();
    const state = this.state.value && `&state=${this.state.value}`;
    this.read(`/v1/webhooks/${this.webhookId}/deliveries?limit=${SHOWN}${state}`);
  }

  async read(address) {
    const { generation } = this;
    try {
      const { body, next } = await call(address);
      if (generation !== this.generation) return;
      this.list.append(...body.items.map((delivery) => this.row(delivery)));
      this.next = next;
      this.more.hidden = !next;
      this.empty.hidden = this.list.children.length > 0;
      setText(this.empty, this.empty.hidden ? "" : "There are none of this kind.");
      setText(this.error, "");
    } catch (error) {
      if (generation === this.generation) setText(this.error, error.message);
    }
  }

  async readSteps(address) {
    try {
      const { body, next } = await call(address);
      this.steps.append(...body.items.map(stepRow));
      this.before = next;
      this.earlier.hidden = !next;
    } catch (error) {
      setText(this.error, error.message);
    }
  }

  row(delivery) {
    const { eventId, type, position, state, changedAt } = delivery;
    const replays = state === "dead" && type !== PING && session.may("controls:write");
    return element(
      "li",
      { dataset: { eventId, state } },
      element("div", { class: "rule-head" }, element("b", {}, deliveryName(delivery)), resultTag(delivery)),
      element("p", { class: "muted small" }, `${fullTime(changedAt)}: ${outcomeText(delivery)}.`),
      element("p", { class: "muted small" }, `Position ${position}, id ${eventId}`),
      replays && button("Replay from here", () => this.replay(position - 1), {
        "aria-label": `Replay from here: ${eventId}`,
      }),
    );
  }
}

function stepRow(step) {
  return element("li", {}, `${step.actor} ${stepText(step)}, ${fullTime(step.occurredAt)}`);
}
