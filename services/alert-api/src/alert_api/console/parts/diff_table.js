// What differs, row by row: before struck out, after marked.

import { element } from "../core/dom.js";

/** Of `{title, before, after}`; a text that is empty has no mark, and leaves its place to the other. */
export function diffTable(rows) {
  const body = rows.map(({ title, before, after }) => {
    const marks = [before && element("del", {}, before), after && element("ins", {}, after)].filter(Boolean);
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, title),
      marks.map((mark) => element("td", { colspan: 3 - marks.length }, mark)),
    );
  });
  return element("table", { class: "diff" }, element("tbody", {}, body));
}
