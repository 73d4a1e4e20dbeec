// Asking for a webhook, and changing one. A new one ends with its secret, shown once.

import { call } from "../core/client.js";
import { choice, element, form, labelled, setText, toast } from "../core/dom.js";
import { markField, markFields, markRefusal } from "../core/field_errors.js";
import { GROUPINGS } from "../core/event_type.js";
import { secretCard } from "../parts/secret_card.js";
import { EVENTS, orWorse, SEVERITIES, TEMPLATES } from "./webhook_words.js";

export class WebhookForm {
  /** Of a webhook that is there, or a new one for null; `onChange()`, `onClose()` as with keys. */
  constructor(webhook, { onChange, onClose }) {
    Object.assign(this, { webhook, onChange, onClose });
    const line = (id, more) =>
      element("input", { id, autocomplete: "off", autocapitalize: "none", spellcheck: "false", ...more });
    this.name = line("webhook-name", { maxlength: 64 });
    this.url = line("webhook-url", { class: "mono", maxlength: 2000, placeholder: "https://" });
    this.template = choice(Object.entries(TEMPLATES), { id: "webhook-template" });
    this.severity = choice([["", "any"], ...SEVERITIES.map((severity) => [severity, orWorse(severity)])], {
      id: "webhook-severity",
    });
    this.rules = line("webhook-rules", { maxlength: 1000, placeholder: "all" });
    this.subjects = element("textarea", {
      id: "webhook-subjects",
      class: "mono",
      rows: 2,
      maxlength: 21_000,
      placeholder: "all",
      autocapitalize: "none",
      spellcheck: "false",
    });
    this.events = Object.entries(EVENTS).map(([type, text]) => ({
      type,
      text,
      box: element("input", { type: "checkbox", id: `webhook-${type}` }),
    }));
    this.error = element("p", { class: "error", role: "alert" });
    this.go = element("button", { class: "primary", type: "submit" }, webhook ? "Change" : "Add");
    this.fill(webhook);
    this.element = this.build();
  }

  fill(webhook) {
    this.name.value = webhook?.name ?? "";
    this.url.value = webhook?.url ?? "";
    this.template.value = webhook?.template ?? "cloudevents";
    this.severity.value = webhook?.minSeverity ?? "";
    this.rules.value = webhook?.ruleIds.join(", ") ?? "";
    this.subjects.value = webhook?.subjects.join("\n") ?? "";
    for (const { type, box } of this.events) box.checked = webhook?.eventTypes.includes(type) ?? true;
  }

  build() {
    return form(
      () => this.send(),
      { class: "rule-form key-form" },
      labelled("Name", this.name),
      labelled("Address", this.url, "Of a host that this installation allows."),
      labelled("It is sent", this.template),
      element(
        "fieldset",
        { class: "webhook-events" },
        element("legend", { class: "field-name" }, "When a case is"),
        this.events.map(({ box, text }) =>
          element("label", { class: "check", for: box.id }, box, element("span", {}, text))
        ),
      ),
      labelled("How severe", this.severity, "By the worst of the case\u2019s rules, as it is then."),
      labelled("Of rules", this.rules, "Their numbers, with commas between. Of all, if none is named."),
      labelled(
        "About",
        this.subjects,
        `Whom or what, one a line, as ${GROUPINGS[0]}:25. Whatever, if none is named.`,
      ),
      this.error,
      element("div", { class: "dialog-end" }, this.go),
    );
  }

  focus() {
    this.name.focus();
  }

  /** Null where something is not as it has to be, which is said. */
  body() {
    const numbers = this.rules.value.split(/[\s,]+/).filter(Boolean);
    const eventTypes = this.events.filter(({ box }) => box.checked).map(({ type }) => type);
    if (!this.name.value.trim()) return this.miss(this.name, "Give it a name.");
    if (!this.url.value.trim()) return this.miss(this.url, "Say where to.");
    if (!eventTypes.length) return this.miss(this.events[0].box, "Tick at least one of these.");
    if (numbers.some((number) => !/^[1-9]\d{0,14}$/.test(number))) {
      return this.miss(this.rules, "Rules are named by their numbers here, like 3, 7.");
    }
    const subjects = this.subjects.value.split("\n").map((line) => line.trim()).filter(Boolean);
    if (subjects.some((subject) => !/^[^:]+:./.test(subject))) {
      return this.miss(this.subjects, `A field and its value on each line, as ${GROUPINGS[0]}:25.`);
    }
    return {
      name: this.name.value.trim(),
      url: this.url.value.trim(),
      template: this.template.value,
      eventTypes,
      minSeverity: this.severity.value || null,
      ruleIds: numbers.map(Number),
      subjects,
    };
  }

  async send() {
    setText(this.error, "");
    markFields(this.element, []);
    const body = this.body();
    if (!body) return;
    this.go.disabled = true;
    try {
      if (this.webhook) await this.change(body);
      else await this.add(body);
      this.onChange();
    } catch (error) {
      markRefusal(this.element, error, this.inputs(), this.error);
    } finally {
      this.go.disabled = false;
    }
  }

  async change(body) {
    const { webhookId, version } = this.webhook;
    const answer = await call(`/v1/webhooks/${webhookId}`, { method: "PUT", body, version });
    toast(waiting(answer.body) ?? `${body.name} is changed.`);
    this.onClose();
  }

  async add(body) {
    const { body: made } = await call("/v1/webhooks", { method: "POST", body });
    const card = {
      secret: made.secret,
      what: `${made.name} signs what it sends with this secret: its receiver needs it.`,
      label: "Secret",
      note: waiting(made),
    };
    this.element.replaceWith(secretCard(card, this.onClose));
  }

  miss(field, text) {
    markField(this.element, field, text);
    return null;
  }

  /** By the names that the API has for them. */
  inputs() {
    const { name, url, template, severity, rules, subjects } = this;
    const eventTypes = this.events[0].box;
    return { name, url, template, eventTypes, minSeverity: severity, ruleIds: rules, subjects };
  }
}

function waiting({ state, name }) {
  return state === "requested" ? `${name} is told nothing until somebody else has approved it.` : null;
}
