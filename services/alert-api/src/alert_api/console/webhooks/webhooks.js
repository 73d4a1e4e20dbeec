// Webhooks: who is told what becomes of cases, how that goes, and what people do about it.

import { Absent, call, session, SignedOut } from "../core/client.js";
import { confirm } from "../core/confirm.js";
import { arrange, button, byId, element, setText, toast } from "../core/dom.js";
import { here } from "../core/router.js";
import { trouble } from "../core/field_errors.js";
import { ReplayForm } from "./replay_form.js";
import { RotationForm } from "./rotation_form.js";
import { WebhookDeliveries } from "./webhook_deliveries.js";
import { WebhookForm } from "./webhook_form.js";
import { webhookItem } from "./webhook_item.js";
import { PING, reasonText } from "./webhook_words.js";

const AGAIN_MS = 5000;
const SOON_MS = 1000;
const TEST_MS = 30_000;
const DIALOG = "rule-dialog";
const NONE = "Nobody is told of cases yet.";

export class WebhooksView {
  constructor() {
    this.list = element("ul", { class: "rules", id: "webhook-list", "aria-label": "Webhooks" });
    this.empty = element("p", { class: "empty" });
    this.error = element("p", { class: "error", role: "alert" });
    this.add = button("New webhook", () => this.openForm("New webhook", new WebhookForm(null, this.ends())), {
      kind: "primary",
    });
    byId("webhooks").append(this.build());
    // What a form shows, a secret among it, is gone with its dialog.
    byId(DIALOG).addEventListener("close", () => {
      if (this.form) byId(`${DIALOG}-body`).replaceChildren();
      this.form = null;
    });
    this.forget();
  }

  build() {
    return element(
      "div",
      { class: "panel" },
      element("a", { class: "back", href: "/cases", "data-go": true }, "\u2190 All cases"),
      element("div", { class: "panel-head" }, element("h1", {}, "Webhooks"), this.add),
      element(
        "p",
        { class: "muted small keys-intro" },
        "Each is told what becomes of cases, in order and signed. What is not taken is tried again for some ten " +
          "minutes, and is a dead letter then, which a replay sends again.",
      ),
      this.error,
      this.list,
      this.empty,
    );
  }

  forget() {
    this.generation = (this.generation ?? 0) + 1;
    Object.assign(this, { items: new Map(), tests: new Map(), readAt: 0 });
    this.list.replaceChildren();
    for (const node of [this.empty, this.error]) setText(node, "");
  }

  open() {
    this.add.hidden = !session.may("controls:write");
    this.read();
  }

  tick(now) {
    if (here().view !== "webhooks" || document.hidden) return;
    if (now - this.readAt >= (this.tests.size ? SOON_MS : AGAIN_MS)) this.read();
  }

  async read() {
    const generation = (this.generation += 1);
    this.readAt = Date.now();
    try {
      const { body } = await call("/v1/webhooks");
      if (generation !== this.generation) return;
      setText(this.error, "");
      this.show(body.items);
    } catch (error) {
      if (generation !== this.generation || error instanceof SignedOut) return;
      const off = error instanceof Absent;
      this.add.hidden ||= off;
      setText(this.empty, off ? error.message : "");
      setText(this.error, off ? "" : `The webhooks cannot be read now: ${error.message}`);
    }
  }

  show(webhooks) {
    const kept = new Map();
    for (const webhook of webhooks) {
      this.tellTest(webhook);
      // Of the time that has passed the minute is told.
      const shown = JSON.stringify([webhook, Math.floor(Date.now() / 60_000)]);
      const old = this.items.get(webhook.webhookId);
      const node = old?.shown === shown ? old.node : webhookItem(webhook, this.acts());
      kept.set(webhook.webhookId, { shown, node });
    }
    this.items = kept;
    arrange(this.list, [...kept.values()].map(({ node }) => node));
    this.empty.hidden = kept.size > 0;
    setText(this.empty, kept.size ? "" : NONE);
  }

  acts() {
    const form = (title, make) => (webhook) => this.openForm(title(webhook), make(webhook));
    return {
      approve: (webhook) => this.approve(webhook),
      look: (webhook) => this.look(webhook),
      test: (webhook) => this.test(webhook),
      pause: (webhook) => this.post(webhook, "pause", `${webhook.name} is paused.`),
      resume: (webhook) => this.post(webhook, "resume", `${webhook.name} is told what happened meanwhile.`),
      change: form(({ name }) => `Change ${name}`, (webhook) => new WebhookForm(webhook, this.ends())),
      replay: form(({ name }) => `Replay ${name}`, (webhook) => new ReplayForm(webhook, this.ends())),
      rotate: form(
        ({ name }) => `A new secret for ${name}`,
        (webhook) => new RotationForm(webhook, this.ends()),
      ),
      remove: (webhook) => this.remove(webhook),
    };
  }

  ends() {
    return { onChange: () => this.read(), onClose: () => byId(DIALOG).close() };
  }

  look(webhook) {
    const replay = (after) =>
      this.openForm(`Replay ${webhook.name}`, new ReplayForm(webhook, this.ends(), after));
    this.openForm(webhook.name, new WebhookDeliveries(webhook, replay));
  }

  /** An approval is of what is shown here. */
  approve(webhook) {
    const { webhookId, name, contentHash } = webhook;
    confirm({
      title: `Approve ${name}?`,
      what: `From then on ${webhook.url} is told what the list says.`,
      go: "Approve",
      act: async () => {
        await call(`/v1/webhooks/${webhookId}/approve`, { method: "POST", body: { contentHash } });
        toast(`${name} is approved.`);
        this.read();
      },
    });
  }

  remove({ webhookId, name }) {
    confirm({
      title: `Remove ${name}?`,
      what: "It is told nothing any more, and its secret is gone. Its history stays.",
      go: "Remove",
      danger: true,
      act: async () => {
        await call(`/v1/webhooks/${webhookId}`, { method: "DELETE" });
        toast(`${name} is removed.`);
        this.read();
      },
    });
  }

  async test(webhook) {
    const done = await this.post(webhook, "test", `A test of ${webhook.name} is on its way.`);
    if (done) {
      const last = webhook.lastDelivery?.eventId;
      this.tests.set(webhook.webhookId, { last, until: Date.now() + TEST_MS });
    }
  }

  /** What came of a test, once there is something. */
  tellTest({ webhookId, name, lastDelivery }) {
    const test = this.tests.get(webhookId);
    if (!test) return;
    if (lastDelivery?.type === PING && lastDelivery.eventId !== test.last) {
      this.tests.delete(webhookId);
      const why = reasonText(lastDelivery);
      toast(
        lastDelivery.state === "delivered"
          ? `${name} took the test.`
          : `${name} did not take the test: ${why}.`,
      );
    } else if (Date.now() > test.until) {
      this.tests.delete(webhookId);
      toast(`The test of ${name} has not been sent yet: it goes out with the next try of what waits.`);
    }
  }

  async post({ webhookId }, act, said) {
    setText(this.error, "");
    try {
      await call(`/v1/webhooks/${webhookId}/${act}`, { method: "POST" });
      toast(said);
      this.read();
      return true;
    } catch (error) {
      if (!(error instanceof SignedOut)) setText(this.error, trouble(error));
      return false;
    }
  }

  openForm(title, form) {
    this.form = form;
    setText(byId(`${DIALOG}-title`), title);
    byId(`${DIALOG}-body`).replaceChildren(form.element);
    if (!byId(DIALOG).open) byId(DIALOG).showModal();
    form.focus();
  }
}
