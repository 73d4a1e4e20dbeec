// Who had to do with whom in a case: those of the one field at the left, those of the other at the right, and between
// them a line for each pair, the thicker the more it had; below it the same as a table.

import { drawing, element, ofNumbers, tableHead } from "../core/dom.js";
import { capital, MANY, ONE, sidesOf } from "../core/event_type.js";
import { counted, decimal, fieldName, fieldNames, fullTime, timeOfDay } from "../core/format.js";

const ROW = 34;
const WIDTH = 100;
const MOST_DRAWN = 24;
const MOST_NAMED = 5;
const THINNEST = 1.5;
const THICKEST = 9;

/**
 * Where the names stand: `{sources, targets, edges}`, names in rows, edges with rows for ends. The left side is in the
 * order of the edges, which have the largest first; the right side in the order of its neighbours' middle, which makes
 * lines cross less.
 */
export function layOut(edges) {
  const sources = [...new Set(edges.map((edge) => edge.source))];
  const row = new Map(sources.map((name, index) => [name, index]));
  const neighbours = new Map();
  for (const { source, target } of edges) {
    neighbours.set(target, [...neighbours.get(target) ?? [], row.get(source)]);
  }
  const middle = ([, rows]) => rows.reduce((sum, index) => sum + index, 0) / rows.length;
  const targets = [...neighbours].sort((a, b) => middle(a) - middle(b)).map(([name]) => name);
  return {
    sources,
    targets,
    edges: edges.map((edge) => ({
      ...edge,
      from: row.get(edge.source),
      to: targets.indexOf(edge.target),
    })),
  };
}

export function graphTitle({ sourceField, targetField }) {
  return `From ${fieldName(sourceField)} to ${fieldName(targetField)}`;
}

export function caseGraph(graph, subject) {
  if (graph.sourceField === null) return null;
  if (!graph.edges.length) {
    return element("p", { class: "muted" }, `No ${MANY} with ${parties(graph)} are in these alerts.`);
  }
  const drawn = graph.edges.slice(0, MOST_DRAWN);
  return [
    element("p", { class: "muted small" }, said(graph, drawn.length)),
    picture(graph, layOut(drawn), subject),
    element(
      "details",
      { class: "case-pairs" },
      element("summary", {}, `As a table: ${counted(graph.edges.length, "pair")}`),
      table(graph),
    ),
  ];
}

function parties({ sourceField, targetField }) {
  return `${fieldName(sourceField)} and ${fieldName(targetField)}`;
}

/** The values of a party that stand on both sides, as of an account that paid and was paid; none of fields alone. */
export function onBothSides({ party, edges }) {
  if (party === null) return [];
  const targets = new Set(edges.map((edge) => edge.target));
  return [...new Set(edges.map((edge) => edge.source))].filter((name) => targets.has(name));
}

/** "On both sides: account 25." */
function bothText(graph) {
  const names = onBothSides(graph);
  if (!names.length) return "";
  const name = names.length === 1 ? fieldName(graph.party) : fieldNames(graph.party);
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return `On both sides: ${name} ${names.slice(0, MOST_NAMED).join(", ")}${more}.`;
}

/** What is shown, and what is left out. */
function said(graph, drawn) {
  const without = graph.transactions - graph.withBothParties;
  return [
    `${counted(graph.transactions, ONE, MANY)} that ${
      counted(graph.alerts, "alert")
    }, the newest, tripped on;`,
    "those that only counted are with each alert.",
    drawn < graph.edgeCount ? `The ${drawn} largest of ${graph.edgeCount} pairs are drawn.` : "",
    without ? `${without} lack ${parties(graph)}.` : "",
    bothText(graph),
  ].filter(Boolean).join(" ");
}

function picture(graph, { sources, targets, edges }, subject) {
  const height = ROW * Math.max(sources.length, targets.length);
  const most = Math.max(...edges.map((edge) => edge.transactions));
  const y = (index, count) => (height / count) * (index + 0.5);
  const isSubject = (field) => subject.field === field || sidesOf(subject.field).includes(field);
  const names = (list, field) =>
    element(
      "ol",
      { class: "graph-names", "aria-hidden": "true" },
      list.map((name) =>
        element(
          "li",
          { class: isSubject(field) && subject.value === name ? "of-subject" : "", title: name },
          name,
        )
      ),
    );
  const svg = drawing(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${height}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `${capital(MANY)} between ${counted(sources.length, "left end")} and ${
        counted(targets.length, "right end")
      }; the table below says the same`,
    },
    edges.map((edge) => {
      const [from, to] = [y(edge.from, sources.length), y(edge.to, targets.length)];
      return drawing(
        "path",
        {
          class: "graph-edge",
          d: `M0 ${from}C${WIDTH / 2} ${from} ${WIDTH / 2} ${to} ${WIDTH} ${to}`,
          "stroke-width": thickness(edge.transactions, most).toFixed(1),
        },
        drawing("title", {}, `${edge.source} \u2192 ${edge.target}: ${counted(edge.transactions, "time")}`),
      );
    }),
  );
  return element(
    "div",
    { class: "graph" },
    element("b", { class: "small muted" }, fieldName(graph.sourceField)),
    element("span"),
    element("b", { class: "small muted" }, fieldName(graph.targetField)),
    names(sources, graph.sourceField),
    element("div", { class: "graph-lines" }, svg),
    names(targets, graph.targetField),
  );
}

/** By how many they are; of a few at most all are thin. */
function thickness(count, most) {
  return THINNEST + (THICKEST - THINNEST) * (count - 1) / Math.max(most - 1, 5);
}

function table(graph) {
  const sum = graph.measureField !== null;
  const heads = [capital(fieldName(graph.sourceField)), capital(fieldName(graph.targetField)), "Last"];
  const numbers = [capital(MANY), sum && capital(fieldName(graph.measureField))].filter(Boolean);
  return element(
    "div",
    { class: "table", tabindex: 0, role: "region", "aria-label": graphTitle(graph) },
    element(
      "table",
      { id: "case-graph" },
      tableHead([...heads, ...ofNumbers(...numbers)]),
      element(
        "tbody",
        {},
        graph.edges.map((edge) =>
          element(
            "tr",
            {},
            element("td", {}, edge.source),
            element("td", {}, edge.target),
            element("td", { title: fullTime(edge.last) }, timeOfDay(edge.last)),
            element("td", { class: "number" }, String(edge.transactions)),
            sum && element("td", { class: "number" }, edge.total === null ? "\u2013" : decimal(edge.total)),
          )
        ),
      ),
    ),
  );
}
