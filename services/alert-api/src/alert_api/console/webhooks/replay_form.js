// Having a webhook told again what was, or leaving out what waits.

import { call } from "../core/client.js";
import { choice, element, form, labelled, setText, toast } from "../core/dom.js";
import { fieldTime } from "../core/format.js";
import { trouble } from "../core/field_errors.js";
import { instantText } from "../words/snooze_words.js";
import { END } from "./webhook_words.js";

const HOUR = 3_600_000;
const WAYS = [
  ["time", "from a time on"],
  ["position", "from behind a position of the log"],
  ["end", "nothing of what was: leave out what waits"],
];

export class ReplayForm {
  constructor(webhook, { onChange, onClose }, after = null) {
    Object.assign(this, { webhook, onChange, onClose });
    const follow = () => this.follow();
    this.way = choice(WAYS, { id: "replay-way", on: { change: follow } });
    this.time = element("input", {
      type: "datetime-local",
      id: "replay-time",
      step: 1,
      on: { input: follow },
    });
    this.position = element("input", {
      id: "replay-position",
      inputmode: "numeric",
      autocomplete: "off",
      maxlength: 16,
    });
    this.parts = {
      time: labelled("Time", this.time),
      position: labelled("Position", this.position, "Deliveries name theirs."),
    };
    this.instant = element("p", { class: "hint", role: "status" });
    this.error = element("p", { class: "error", role: "alert" });
    this.go = element("button", { class: "primary", type: "submit" }, "Replay");
    this.time.value = fieldTime(Date.now() - HOUR);
    this.way.value = after === null ? "time" : "position";
    this.position.value = after ?? webhook.position;
    this.element = this.build();
    this.follow();
  }

  build() {
    return form(
      () => this.send(),
      { class: "rule-form key-form" },
      element(
        "p",
        { class: "muted" },
        "What comes again has the id that it had, by which receivers leave out what they know. The order stays.",
      ),
      labelled("It is told", this.way),
      this.parts.time,
      this.instant,
      this.parts.position,
      this.error,
      element("div", { class: "dialog-end" }, this.go),
    );
  }

  focus() {
    this.way.focus();
  }

  follow() {
    const way = this.way.value;
    for (const [name, part] of Object.entries(this.parts)) part.hidden = name !== way;
    const ms = Date.parse(this.time.value);
    setText(this.instant, way === "time" && Number.isFinite(ms) ? `From ${instantText(ms)}` : "");
  }

  /** Null where the field has none. */
  body() {
    if (this.way.value === "end") return { afterPosition: END };
    if (this.way.value === "time") {
      const from = Date.parse(this.time.value);
      return Number.isFinite(from) ? { from } : null;
    }
    const text = this.position.value.trim();
    return /^\d{1,15}$/.test(text) ? { afterPosition: Number(text) } : null;
  }

  async send() {
    const body = this.body();
    setText(this.error, body ? "" : "Say from where.");
    if (!body) return;
    this.go.disabled = true;
    try {
      await call(`/v1/webhooks/${this.webhook.webhookId}/replay`, { method: "POST", body });
      toast(`${this.webhook.name} goes on from there.`);
      this.onChange();
      this.onClose();
    } catch (error) {
      setText(this.error, trouble(error));
    } finally {
      this.go.disabled = false;
    }
  }
}
