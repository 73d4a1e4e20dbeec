// What differs, row by row: before struck out, after marked.

import { element } from "../core/dom.js";

/** Of `{title, before, after}`; a text that is empty has no mark, and leaves its place to the other. */
export function diffTable(rows) {
  const body = rows.map(({ title, before, after }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, title),
      before || !after
        ? element("td", { colspan: after ? 1 : 2 }, before && element("del", {}, before))
        : null,
      after ? element("td", { colspan: before ? 1 : 2 }, element("ins", {}, after)) : null,
    )
  );
  return element("table", { class: "diff" }, element("tbody", {}, body));
}
