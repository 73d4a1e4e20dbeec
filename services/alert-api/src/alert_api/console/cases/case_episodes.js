// The episodes of a case: along time, a lane for each rule, and as a table.

import { drawing, element, ofNumbers, tableHead } from "../core/dom.js";
import { counted, decimal, fullTime, operator, span, timeOfDay } from "../core/format.js";
import { groupText } from "./case_words.js";

const WIDTH = 1000;
const LANE = 26;
const BAR = 12;
const LEAST = 4;

/** A bar for each episode. Its length is from its first alert to its last one, and seen at least. */
export function timeLine(episodes) {
  const first = Math.min(...episodes.map((episode) => episode.firstEventTime));
  const last = Math.max(...episodes.map((episode) => episode.lastEventTime));
  const rules = [...new Map(episodes.map((episode) => [episode.ruleId, ruleName(episode)]))];
  const x = (time) => (last === first ? 0 : ((time - first) / (last - first)) * (WIDTH - LEAST));
  return element(
    "div",
    { class: "case-lanes" },
    rules.map(([ruleId, name]) =>
      element(
        "div",
        { class: "case-lane" },
        element("span", { class: "small" }, name),
        lane(episodes.filter((episode) => episode.ruleId === ruleId), x),
      )
    ),
    element(
      "div",
      { class: "case-lane muted small" },
      element("span"),
      element(
        "span",
        { class: "case-ends" },
        element("span", {}, timeOfDay(first)),
        element("span", {}, timeOfDay(last)),
      ),
    ),
  );
}

function lane(episodes, x) {
  return drawing(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${LANE}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": counted(episodes.length, "episode"),
    },
    drawing("line", { class: "lane", x1: 0, x2: WIDTH, y1: LANE / 2, y2: LANE / 2 }),
    episodes.map((episode) =>
      drawing(
        "rect",
        {
          class: "episode",
          x: x(episode.firstEventTime),
          y: (LANE - BAR) / 2,
          width: Math.max(LEAST, x(episode.lastEventTime) - x(episode.firstEventTime)),
          height: BAR,
        },
        drawing("title", {}, `${counted(episode.alertCount, "alert")}, ${fullTime(episode.firstEventTime)}`),
      )
    ),
  );
}

export function episodeTable(episodes) {
  return element(
    "div",
    { class: "table", tabindex: 0, role: "region", "aria-label": "Episodes" },
    element(
      "table",
      { id: "case-episodes" },
      tableHead(["Rule", "Group", "First", "Lasted", "Peak", ...ofNumbers("Alerts")]),
      element("tbody", {}, episodes.map(episodeRow)),
    ),
  );
}

function episodeRow(episode) {
  const seconds = Math.round((episode.lastEventTime - episode.firstEventTime) / 1000);
  return element(
    "tr",
    {},
    element("td", { class: "words" }, ruleName(episode)),
    element("td", {}, groupText(episode.group) || "\u2013"),
    element("td", { title: fullTime(episode.firstEventTime) }, timeOfDay(episode.firstEventTime)),
    element("td", {}, seconds > 0 ? span(rounded(seconds)) : "\u2013"),
    element("td", {}, peak(episode.peak)),
    element("td", { class: "number" }, String(episode.alertCount)),
  );
}

/** Two units at most: beyond an hour whole minutes, beyond two days whole hours. */
function rounded(seconds) {
  const unit = seconds > 172_800 ? 3600 : seconds > 3600 ? 60 : 1;
  return Math.round(seconds / unit) * unit;
}

function peak(highest) {
  if (highest === null) return "\u2013";
  const text = `${decimal(highest.value)} ${operator(highest.operator)} ${decimal(highest.limit)}`;
  return element("a", { href: `/alerts/${highest.alertId}`, "data-go": true }, text);
}

function ruleName({ ruleId, ruleName: name }) {
  return name || `Rule ${ruleId}`;
}
