// What differs, row by row: before struck out, after marked.

import { element } from "../core/dom.js";

/** Of `{title, before, after}`; a text that is empty has no mark. */
export function diffTable(rows) {
  const body = rows.map(({ title, before, after }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, title),
      element("td", {}, before ? element("del", {}, before) : null),
      element("td", {}, after ? element("ins", {}, after) : null),
    )
  );
  return element("table", { class: "diff" }, element("tbody", {}, body));
}
