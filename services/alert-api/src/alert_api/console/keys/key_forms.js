// Giving out a key, rotating and revoking it: forms in a dialog. Two of them end with a secret, shown once.

import { registry, session } from "../core/client.js";
import { choice, element, form, labelled, setText, toast } from "../core/dom.js";
import { markField, markFields, markRefusal } from "../core/field_errors.js";
import { fullTime } from "../core/format.js";
import { secretCard } from "../parts/secret_card.js";

const DAY_S = 86_400;
const ROLES = {
  viewer: "looks at alerts, rules and traffic",
  analyst: "writes rules and acknowledges alerts",
  approver: "approves what analysts write",
  admin: "gives out keys; neither writes nor approves",
  auditor: "reads the audit trail",
  operator: "commands the engine and its traffic",
};
const ENDS = [[30, "in 30 days"], [90, "in 90 days"], [365, "in a year"], ["", "never"]];
const AS_BEFORE = ["before", "as it did before"];
const OVERLAPS = [[0, "not at all"], [3600, "an hour"], [DAY_S, "a day"], [7 * DAY_S, "a week"], [
  30 * DAY_S,
  "30 days",
]];

/** What they have in common: sending once, and saying what was refused. */
class KeyForm {
  /** `onChange()` is called when something has changed, `onClose()` when nothing more is to be seen. */
  constructor({ onChange, onClose }, go, kind = "primary") {
    Object.assign(this, { onChange, onClose });
    this.error = element("p", { class: "error", role: "alert" });
    this.reason = element("input", { id: "key-reason", maxlength: 500, autocomplete: "off" });
    this.go = element("button", { class: kind, type: "submit" }, go);
  }

  build(...fields) {
    this.element = form(
      () => this.send(),
      { class: "rule-form key-form" },
      fields,
      labelled("Reason (optional)", this.reason, "It stands in the audit trail."),
      this.error,
      element("div", { class: "dialog-end" }, this.go),
    );
  }

  async send() {
    setText(this.error, "");
    markFields(this.element, []);
    if (this.isWrong?.()) return;
    this.go.disabled = true;
    try {
      await this.act();
      this.onChange();
    } catch (error) {
      const { name, role, ends, overlap, reason } = this;
      const inputs = { name, role, expiresAt: ends, overlapSeconds: overlap, reason };
      markRefusal(this.element, error, inputs, this.error);
    } finally {
      this.go.disabled = false;
    }
  }

  /** The address with the reason, where one is given. */
  with(path) {
    const reason = this.reason.value.trim();
    return reason ? `${path}?${new URLSearchParams({ reason })}` : path;
  }

  show(given, before = null) {
    const card = {
      secret: given.key,
      what: `This is the key of ${given.name}.`,
      label: "Key",
      note: before && `The one before is good until ${fullTime(before)}.`,
    };
    this.element.replaceWith(secretCard(card, this.onClose));
  }
}

export class GiveOutForm extends KeyForm {
  constructor(acts) {
    super(acts, "Give out");
    this.name = element("input", {
      id: "key-name",
      class: "mono",
      maxlength: 64,
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
    });
    this.role = choice(
      Object.entries(ROLES).map(([role, does]) => [role, `${role}: ${does}`]),
      { id: "key-role" },
    );
    this.role.value = "analyst";
    this.ends = choice(ENDS, { id: "key-ends" });
    this.ends.value = "90";
    this.build(
      labelled("Name", this.name, "Who will act with it. A name is given once, and never to somebody else."),
      labelled("Role", this.role),
      labelled("It ends", this.ends),
    );
  }

  focus() {
    this.name.focus();
  }

  isWrong() {
    const fits = /^[A-Za-z0-9][A-Za-z0-9._@-]*$/.test(this.name.value.trim());
    if (!fits) {
      markField(this.element, this.name, "A name has letters, digits and . _ @ -, a letter or digit first.");
    }
    return !fits;
  }

  async act() {
    const body = {
      name: this.name.value.trim(),
      role: this.role.value,
      expiresAt: endIn(this.ends.value),
    };
    const answer = await registry(this.with("/keys"), { method: "POST", body });
    this.show(answer.body);
  }
}

export class RotateForm extends KeyForm {
  constructor(key, acts) {
    super(acts, "Rotate");
    this.key = key;
    this.overlap = choice(OVERLAPS, { id: "key-overlap" });
    this.overlap.value = String(DAY_S);
    const hasEnded = key.state === "EXPIRED";
    this.ends = choice(hasEnded ? ENDS : [AS_BEFORE, ...ENDS], { id: "key-ends" });
    if (hasEnded) this.ends.value = "90";
    this.build(
      element(
        "p",
        { class: "muted" },
        `${key.name} gets another key. Sessions and programs that have the one of now go on until it ends.`,
      ),
      labelled("The one of now is good for", this.overlap),
      labelled("The new one ends", this.ends),
    );
  }

  focus() {
    this.overlap.focus();
  }

  async act() {
    const body = { overlapSeconds: Number(this.overlap.value) };
    if (this.ends.value !== AS_BEFORE[0]) body.expiresAt = endIn(this.ends.value);
    const path = `/keys/${encodeURIComponent(this.key.name)}/rotate`;
    const answer = await registry(this.with(path), { method: "POST", body });
    this.show(answer.body, answer.body.previousUntil);
  }
}

export class RevokeForm extends KeyForm {
  constructor(key, acts) {
    super(acts, "Revoke", "danger");
    this.key = key;
    this.build(
      element(
        "p",
        {},
        `${key.name} is let in no more, from the next second on, and who is signed in with this key is signed ` +
          "out. That cannot be undone, and the name is not given again.",
      ),
      key.name === session.actor && element("p", { class: "warnings" }, "This is the key that you use."),
    );
  }

  focus() {
    this.reason.focus();
  }

  async act() {
    await registry(this.with(`/keys/${encodeURIComponent(this.key.name)}`), { method: "DELETE" });
    toast(`${this.key.name} is revoked.`);
    this.onClose();
  }
}

/** Days from now as a moment; no end for the empty choice. */
function endIn(days) {
  return days === "" ? null : Date.now() + Number(days) * DAY_S * 1000;
}
