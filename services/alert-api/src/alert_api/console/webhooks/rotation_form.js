// Another secret for a webhook: shown once, and the one of before holds for a while.

import { call } from "../core/client.js";
import { choice, element, form, labelled, setText } from "../core/dom.js";
import { trouble } from "../core/field_errors.js";
import { secretCard } from "../parts/secret_card.js";
import { instantText } from "../words/snooze_words.js";

const DAY = 86_400;
const SPANS = [
  [0, "not at all: somebody else has it"],
  [3600, "an hour"],
  [DAY, "a day"],
  [7 * DAY, "a week"],
];

export class RotationForm {
  constructor(webhook, { onChange, onClose }) {
    Object.assign(this, { webhook, onChange, onClose });
    this.span = choice(SPANS.map(([seconds, text]) => [String(seconds), text]), { id: "rotation-span" });
    this.span.value = String(DAY);
    this.error = element("p", { class: "error", role: "alert" });
    this.go = element("button", { class: "primary", type: "submit" }, "Make a new one");
    this.element = form(
      () => this.send(),
      { class: "rule-form key-form" },
      element(
        "p",
        { class: "muted" },
        "For a while messages are signed with the new secret and the one of before, so its receiver may have " +
          "either. Nobody has to approve it, and nothing waits.",
      ),
      labelled("The one of before is good for", this.span),
      this.error,
      element("div", { class: "dialog-end" }, this.go),
    );
  }

  focus() {
    this.span.focus();
  }

  async send() {
    const { webhookId, version } = this.webhook;
    const body = { formerSeconds: Number(this.span.value) };
    this.go.disabled = true;
    try {
      const { body: made } = await call(`/v1/webhooks/${webhookId}/rotate`, {
        method: "POST",
        body,
        version,
      });
      const card = {
        secret: made.secret,
        what: `${made.name} signs what it sends with this secret from now on.`,
        label: "Secret",
        note: body.formerSeconds
          ? `With the one of before too, until ${instantText(made.formerSecretUntil)}.`
          : "The one of before is good no more: what comes before its receiver has this one is refused there, and " +
            "tried again.",
      };
      this.element.replaceWith(secretCard(card, this.onClose));
      this.onChange();
    } catch (error) {
      setText(this.error, trouble(error));
    } finally {
      this.go.disabled = false;
    }
  }
}
