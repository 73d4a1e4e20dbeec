// One entry of the audit trail: who changed what, when and why, and what was different after it.

import { element } from "../core/dom.js";
import { capital } from "../core/event_type.js";
import { fullTime, spaced } from "../core/format.js";
import { diffTable } from "../parts/diff_table.js";
import { differences } from "../words/definition.js";

/** As an item of a list; what changed is made when somebody opens it. */
export function entryItem(entry) {
  const details = element(
    "details",
    {
      on: {
        toggle: () => {
          if (details.open && details.children.length === 1) details.append(...whatChanged(entry));
        },
      },
    },
    element("summary", {}, "What changed"),
  );
  return element(
    "li",
    { class: "rule audit-entry", dataset: { sequence: entry.sequence } },
    element(
      "div",
      { class: "rule-main" },
      element(
        "div",
        { class: "rule-head" },
        element("b", { class: "rule-name" }, capital(spaced(entry.type))),
        element("span", { class: "tag" }, subjectOf(entry.subject)),
      ),
      element(
        "p",
        { class: "muted small" },
        `${entry.sequence}, ${entry.actor}${entry.role ? ` (${entry.role})` : ""}, ${
          fullTime(entry.occurredAt)
        }`,
        entry.requestId ? [", request ", element("span", { class: "mono" }, entry.requestId)] : null,
      ),
      entry.reason ? element("p", {}, element("q", {}, entry.reason)) : null,
      entry.before || entry.after ? details : null,
      element("p", { class: "mono muted hash" }, entry.hash),
    ),
  );
}

function subjectOf({ kind, id }) {
  if (id === null) return kind;
  const text = `${kind} ${id}`;
  return kind === "rule" ? element("a", { href: `/rules/${id}`, "data-go": true }, text) : text;
}

function whatChanged({ before, after }) {
  if (before?.definition && after?.definition) {
    const words = differences(before, after, fullTime);
    if (words.length) return [diffTable(words)];
  }
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const rows = names.map((title) => ({
    title,
    before: shown(before?.[title]),
    after: shown(after?.[title]),
  }));
  const changed = rows.filter((row) => row.before !== row.after);
  return [changed.length ? diffTable(changed) : element("p", { class: "muted" }, "Nothing but its version.")];
}

function shown(value) {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
