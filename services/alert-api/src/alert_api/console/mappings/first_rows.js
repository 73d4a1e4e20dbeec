// The first rows of a file as they would be read, and what cannot be read.

import { element, tableHead } from "../core/dom.js";
import { counted, figure } from "../core/format.js";
import { FIELDS, MANY } from "../core/event_type.js";

/** What the registry read with a mapping; of one that cannot be used yet, nothing. */
export function firstRows(answer) {
  if (answer === null) {
    return [element("p", { class: "muted" }, "They can be read once what is open has been said.")];
  }
  const { rows, refused, read, bad, columnsNotRead, ends } = answer;
  const all = ends ? "the file\u2019s" : "the first";
  const said = `${figure(read)} of ${all} ${counted(read + bad, "row")} ${read === 1 ? "is" : "are"} read.`;
  const unused = columnsNotRead.slice(0, 40).join(", ");
  return [
    element("p", { class: "mapping-count" }, said),
    rows.length ? table(rows) : null,
    refused.length ? unread(refused, bad) : null,
    unused ? element("p", { class: "muted small" }, `Columns that are not read: ${unused}`) : null,
  ].filter(Boolean);
}

function table(rows) {
  const fields = FIELDS.filter(({ name }) => rows.some(({ values }) => values[name] !== null));
  return element(
    "div",
    { class: "mapping-table", tabindex: 0, role: "region", "aria-label": `The first ${MANY}` },
    element(
      "table",
      {},
      tableHead(["Line", ...fields.map(({ name }) => name)]),
      element("tbody", {}, rows.map((row) => line(row, fields))),
    ),
  );
}

function line({ line: number, values }, fields) {
  return element(
    "tr",
    {},
    element("td", {}, number),
    fields.map(({ name, kind }) => element("td", {}, shown(values[name], kind))),
  );
}

/** Times in UTC, as the mapping has made them of whatever clock they are of. */
function shown(value, kind) {
  if (value === null || value === undefined) return "\u2013";
  return kind === "timestamp" ? new Date(value).toISOString().replace(".000Z", "Z") : String(value);
}

function unread(refused, bad) {
  const more = bad > refused.length ? element("li", {}, `and ${figure(bad - refused.length)} more`) : null;
  return element(
    "div",
    { class: "mapping-refused" },
    element("h3", {}, "What cannot be read"),
    element(
      "ul",
      { "aria-label": "Lines that cannot be read" },
      refused.map(({ line: number, reason }) =>
        element("li", {}, element("b", {}, `Line ${number}: `), reason)
      ),
      more,
    ),
  );
}
