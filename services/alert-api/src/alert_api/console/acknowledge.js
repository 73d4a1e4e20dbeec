// The dialog that takes an alert in hand.

import { Away, Problem, SignedOut, call } from "./client.js";
import { byId, setText, toast } from "./dom.js";
import { fullTime } from "./format.js";

/** Lets the user acknowledge; `onDone` is called with the alert as it is then. */
export class AcknowledgeDialog {
  constructor(onDone, onSignedOut) {
    this.onDone = onDone;
    this.onSignedOut = onSignedOut;
    this.dialog = byId("acknowledge");
    this.comment = byId("comment");
    this.error = byId("acknowledge-error");
    byId("acknowledge-cancel").addEventListener("click", () => this.dialog.close());
    byId("acknowledge-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
  }

  open(alert, summary) {
    this.alert = alert;
    this.comment.value = "";
    setText(this.error, "");
    setText(byId("acknowledge-what"), summary);
    this.dialog.showModal();
    this.comment.focus();
  }

  async send() {
    const button = byId("acknowledge-confirm");
    const comment = this.comment.value.trim();
    button.disabled = true;
    try {
      const { body } = await call(`/v1/alerts/${this.alert.alertId}/acknowledge`, {
        method: "POST", body: comment ? { comment } : {},
      });
      this.dialog.close();
      toast("Acknowledged. It is yours now.");
      this.onDone(body);
    } catch (error) {
      await this.explain(error);
    } finally {
      button.disabled = false;
    }
  }

  async explain(error) {
    if (error instanceof SignedOut) {
      this.dialog.close();
      this.onSignedOut();
    } else if (error instanceof Problem && error.status === 409) {
      this.dialog.close();
      const { acknowledgedBy, acknowledgedAt } = error.body;
      toast(`${acknowledgedBy} was first, ${fullTime(acknowledgedAt)}.`);
      this.onDone({ ...this.alert, state: "acknowledged", acknowledgedBy, acknowledgedAt });
    } else if (error instanceof Problem && error.status === 403) {
      setText(this.error, "Your key may look at alerts, but not acknowledge them.");
    } else if (error instanceof Away) {
      setText(this.error, "The alert service does not answer. Nothing was changed that you can't repeat: try again.");
    } else {
      setText(this.error, error.message);
    }
  }
}
