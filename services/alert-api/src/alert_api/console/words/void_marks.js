// What an alert rests on that was voided: the transaction that tripped it, or one that it lists.

import { element } from "../core/dom.js";
import { identityOf, ONE, timeOf } from "../core/event_type.js";
import { fullTime } from "../core/format.js";

/** Whether that transaction was voided, as far as the alert knows. */
export function isVoided(alert, { transactionId, eventTime }) {
  return (alert.voided ?? []).some((voided) =>
    voided.transactionId === transactionId && voided.eventTime === eventTime
  );
}

/** A sentence for each transaction that was voided, the first command first. */
export function voidedSentences(alert) {
  const said = (alert.voided ?? []).map((
    { transactionId, eventTime },
  ) => (isTrigger(alert, { transactionId, eventTime })
    ? `The ${ONE} that tripped it, ${transactionId}, was voided.`
    : `${transactionId} of ${fullTime(eventTime)}, which counted for it, was voided.`)
  );
  return [...new Set(said)];
}

export function voidedTag(alert) {
  const said = voidedSentences(alert);
  return said.length ? element("span", { class: "tag warn", title: said.join(" ") }, "voided") : null;
}

function isTrigger({ transaction }, { transactionId, eventTime }) {
  return identityOf(transaction) === transactionId && timeOf(transaction) === eventTime;
}
