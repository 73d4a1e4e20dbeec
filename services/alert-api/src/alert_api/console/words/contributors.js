// What counted for an alert: the transactions of its window, and of a count of different values these values.

import { button, element, tableHead } from "../core/dom.js";
import { capital, identityOf, ONE } from "../core/event_type.js";
import { fieldName, fieldNames, fullTime, timeOfDay } from "../core/format.js";
import { OF_KEYS } from "./definition.js";
import { functionOf, shownValue } from "./measure.js";
import { isVoided } from "./void_marks.js";

const SHOWN = 10;

export function contributors(alert, definition) {
  const kind = functionOf(alert, definition);
  const field = OF_KEYS.has(kind) ? definition?.aggregateFieldName ?? "value" : null;
  const nothing = field
    ? `No ${ONE} in the window has a ${fieldName(field)}.`
    : `No ${ONE} in the window counts.`;
  if (alert.contributors.count === 0) return element("p", { class: "muted" }, nothing);
  return element(
    "div",
    {},
    kind === "COUNT_DISTINCT" ? differentValues(alert, field) : null,
    table(alert, kind, field),
  );
}

function differentValues({ contributors: { transactions, truncated } }, field) {
  const times = new Map();
  for (const { value } of transactions) times.set(value, (times.get(value) ?? 0) + 1);
  const tags = [...times].slice(0, SHOWN).map(([value, count]) =>
    element("span", { class: "tag" }, element("b", {}, value), count > 1 ? ` \u00d7 ${count}` : null)
  );
  const rest = times.size - tags.length;
  return element(
    "p",
    { class: "different", role: "group", "aria-label": `Different ${fieldNames(field)}` },
    tags,
    rest > 0 ? element("span", { class: "muted small" }, `and ${rest} more`) : null,
    truncated ? element("span", { class: "muted small" }, "among the newest") : null,
  );
}

/** Of a bucketed rule only those are told one by one that still stand singly. */
function kept({ precision, contributors: { count, transactions } }) {
  if (!precision) return `The newest ${transactions.length} of ${count} are kept with the alert.`;
  return transactions.length
    ? `The newest ${transactions.length} of ${count}; the others are kept in buckets.`
    : `All ${count} are kept in buckets.`;
}

function table(alert, kind, field) {
  const { count, transactions } = alert.contributors;
  const className = field ? null : "number";
  // what is only counted has no values of its own
  const isValued = transactions.some(({ value }) => value !== null);
  const body = element("tbody");
  const more = element("div");
  const show = (number) => {
    body.replaceChildren(
      ...transactions.slice(0, number).map((transaction) =>
        element(
          "tr",
          { class: transaction.transactionId === identityOf(alert.transaction) ? "trips" : null },
          element(
            "td",
            { class: "mono" },
            transaction.transactionId,
            transaction.transactionId === alert.late?.transactionId
              ? [" ", element("span", { class: "tag warn" }, "late")]
              : null,
            isVoided(alert, transaction) ? [" ", element("span", { class: "tag warn" }, "voided")] : null,
          ),
          element(
            "td",
            { title: `${fullTime(transaction.eventTime)} (${transaction.eventTime} ms)` },
            timeOfDay(transaction.eventTime),
          ),
          isValued && element("td", { class: className }, shownValue(transaction.value, kind)),
        )
      ),
    );
    const listed = Math.min(number, transactions.length);
    more.replaceChildren(...[
      listed < transactions.length
        ? button(`Show all ${transactions.length}`, () => show(transactions.length))
        : null,
      count > transactions.length ? element("p", { class: "muted small" }, kept(alert)) : null,
    ].filter(Boolean));
  };
  show(SHOWN);
  const heading = field ? fieldName(field) : "value";
  return element(
    "div",
    { class: "table", tabindex: 0, role: "region", "aria-label": "What counted, one by one" },
    element(
      "table",
      {},
      tableHead([
        capital(ONE),
        "Time",
        ...(isValued ? [{ text: capital(heading), kind: className }] : []),
      ]),
      body,
    ),
    more,
  );
}
