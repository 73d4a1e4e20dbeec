// One alert in the list: a line, and its details when it is opened.

import { alertDetail } from "./alert_detail.js";
import { element, setText } from "./dom.js";
import { ago, decimal, fieldName, fullTime, operator, timeOfDay } from "./format.js";

export function summary(alert) {
  const group = Object.entries(alert.group).map(([name, value]) => `${fieldName(name)} ${value}`).join(", ");
  return `${alert.ruleName}${group ? `, ${group}` : ""}: ${decimal(alert.value)} ${operator(alert.operator)} ${decimal(alert.limit)}`;
}

/** The row keeps its element for as long as the alert is shown, so an open detail stays open. */
export class AlertRow {
  constructor(alert, onAcknowledge) {
    this.onAcknowledge = onAcknowledge;
    this.opener = element("button", {
      type: "button", class: "alert-open", "aria-expanded": "false", on: { click: () => this.toggle() },
    });
    this.age = element("span");
    this.end = element("div", { class: "alert-end" });
    this.when = element("div", { class: "alert-when" });
    this.element = element(
      "li", { class: "alert" }, element("div", { class: "alert-row" }, this.opener, this.when, this.end),
    );
    this.fill(alert);
  }

  fill(alert) {
    this.alert = alert;
    this.opener.replaceChildren(
      element("span", { class: "alert-name" }, alert.ruleName),
      element("span", { class: "alert-facts" },
        element("span", { class: "measure" }, element("b", {}, decimal(alert.value)),
          ` ${operator(alert.operator)} ${decimal(alert.limit)}`),
        Object.entries(alert.group).map(([name, value]) =>
          element("span", { class: "tag" }, `${fieldName(name)} `, element("b", {}, value))),
        alert.late ? element("span", { class: "tag warn" }, "late") : null,
        alert.warm === false ? element("span", { class: "tag" }, "warming up") : null),
    );
    const iso = new Date(alert.eventTime).toISOString();
    this.when.replaceChildren(
      element("time", { datetime: iso, title: fullTime(alert.eventTime) }, timeOfDay(alert.eventTime)), this.age);
    this.update(alert);
  }

  /** Shows a change of state; an alert's content never changes. */
  update(alert) {
    if (this.element.dataset.state === alert.state) return;
    this.alert = alert;
    this.element.dataset.state = alert.state;
    this.end.replaceChildren(alert.state === "open" ? this.button() : taken(alert));
    if (this.detail) this.showDetail();
  }

  tick(now) {
    setText(this.age, ago(this.alert.eventTime, now));
  }

  button() {
    return element("button", {
      type: "button", class: "quiet", "aria-label": `Acknowledge: ${summary(this.alert)}`,
      on: { click: () => this.onAcknowledge(this.alert) },
    }, "Acknowledge");
  }

  toggle() {
    if (this.detail) {
      this.detail.remove();
      this.detail = null;
    } else {
      this.showDetail();
    }
    this.opener.setAttribute("aria-expanded", String(Boolean(this.detail)));
  }

  showDetail() {
    this.detail?.remove();
    this.detail = alertDetail(this.alert);
    this.element.append(this.detail);
  }
}

function taken(alert) {
  return element("div", { class: "taken", title: alert.acknowledgementComment ?? "" },
    `\u2713 ${alert.acknowledgedBy}`, element("small", {}, timeOfDay(alert.acknowledgedAt)));
}
