// Everything about one case: whom it is about, its rules and episodes, its alerts, what people did, and what can be done.

import { call, Problem, session, SignedOut } from "../core/client.js";
import { button, element, setText } from "../core/dom.js";
import { fullTime } from "../core/format.js";
import { openAcknowledge } from "../parts/acknowledge.js";
import { AlertRow } from "../parts/alert_row.js";
import { evidenceButton } from "../parts/evidence_button.js";
import { caseGraph, graphTitle } from "./case_graph.js";
import { openSnooze } from "../parts/snooze_form.js";
import { caseHistory } from "./case_history.js";
import { episodeTable, timeLine } from "./case_episodes.js";
import { dueTag, holderText, sizeText, stateTag, subjectText } from "./case_words.js";

const ALERTS = 10;
const NAMES = {
  acknowledge: "Acknowledge",
  claim: "Claim",
  assign: "Assign\u2026",
  resolve: "Resolve\u2026",
  reopen: "Reopen\u2026",
  comment: "Comment\u2026",
};
const POSSIBLE = {
  open: ["acknowledge", "claim", "assign", "resolve", "comment"],
  reopened: ["acknowledge", "claim", "assign", "resolve", "comment"],
  acknowledged: ["claim", "assign", "resolve", "comment"],
  assigned: ["assign", "resolve", "comment"],
  resolved: ["reopen", "comment"],
};

export class CasePage {
  constructor(acts) {
    this.acts = acts;
    this.element = element("article", { class: "alert-page case-page", hidden: true });
    this.forget();
  }

  forget() {
    this.generation = (this.generation ?? 0) + 1;
    Object.assign(this, { id: null, one: null, readAt: 0, shown: null });
    this.element.replaceChildren();
  }

  open(id, back) {
    if (this.id === id) return;
    this.forget();
    Object.assign(this, { id, back });
    this.element.append(this.backLink(), element("p", { class: "muted" }, "Loading\u2026"));
    this.read();
  }

  async read() {
    if (this.id === null) return;
    const generation = (this.generation += 1);
    this.readAt = Date.now();
    const path = `/v1/cases/${encodeURIComponent(this.id)}`;
    try {
      const [one, episodes, events, alerts, graph] = await Promise.all([
        call(path),
        call(`${path}/episodes?limit=100`),
        call(`${path}/events?limit=100`),
        call(`${path}/alerts?limit=${ALERTS}`),
        call(`${path}/graph`),
      ]);
      if (generation !== this.generation) return;
      this.show(one.body, { episodes, events, alerts, graph });
    } catch (error) {
      if (generation !== this.generation || error instanceof SignedOut) return;
      const text = error instanceof Problem && [404, 422].includes(error.status)
        ? "There is no such case."
        : `It cannot be read now: ${error.message}`;
      this.shown = null;
      this.element.replaceChildren(
        this.backLink(),
        element("p", { class: "error" }, text),
        button("Try again", () => this.read()),
      );
    }
  }

  /** The same case as it is now. */
  replace(one) {
    if (this.one?.caseId === one.caseId) this.read();
  }

  backLink() {
    return element("a", { class: "back", href: this.back, "data-go": true }, "\u2190 All cases");
  }

  /** Drawn anew only where something is different: what has the focus keeps it. */
  show(one, parts) {
    this.one = one;
    const shown = JSON.stringify([one, ...Object.values(parts).map(({ body }) => body)]);
    if (shown === this.shown) return;
    this.shown = shown;
    const focused = this.element.contains(document.activeElement) ? document.activeElement.id : "";
    const episodes = parts.episodes.body.items;
    const graph = caseGraph(parts.graph.body, one.subject);
    this.element.replaceChildren(...[
      this.backLink(),
      this.head(one),
      section("Time line", timeLine(episodes), "across"),
      section(
        "Episodes",
        [episodeTable(episodes), parts.episodes.next && more("The 100 newest episodes are shown.")],
        "across",
      ),
      graph && section(graphTitle(parts.graph.body), graph, "across"),
      section("What happened", [
        caseHistory(parts.events.body.items),
        parts.events.next && more("The 100 newest entries are shown."),
      ]),
      section("Alerts", this.alertList(parts.alerts)),
      section("Evidence", this.evidence(one)),
      element("p", { class: "muted small" }, `Case ${one.caseId}, version ${one.version}`),
    ].filter(Boolean));
    if (focused) document.getElementById(focused)?.focus();
  }

  head(one) {
    const holder = holderText(one);
    const mine = one.state === "assigned" && one.assignee !== session.actor;
    const possible = mine ? ["claim", ...POSSIBLE[one.state]] : POSSIBLE[one.state];
    const acts = session.may("alerts:ack") ? possible : [];
    return element(
      "header",
      { class: "alert-head", dataset: { state: one.state } },
      element(
        "div",
        {},
        element("h1", {}, subjectText(one)),
        element(
          "span",
          { class: "alert-facts" },
          stateTag(one),
          dueTag(one, Date.now()),
          holder && element("span", {}, holder),
          element("span", { class: "measure" }, sizeText(one)),
          one.rules.map(({ ruleId, ruleName }) =>
            element(
              "a",
              { class: "tag", href: `/rules/${ruleId}`, "data-go": true },
              ruleName || `Rule ${ruleId}`,
            )
          ),
        ),
        element(
          "p",
          { class: "muted small" },
          `From ${fullTime(one.firstEventTime)} to ${fullTime(one.lastEventTime)}`,
        ),
      ),
      element(
        "div",
        { class: "case-acts" },
        acts.map((act) =>
          button(NAMES[act], () => this.acts[act](this.one), {
            id: `case-${act}`,
            kind: act === "resolve" ? "primary" : "quiet",
          })
        ),
        session.may("alerts:ack") && button("Snooze\u2026", () => this.snooze(), { id: "case-snooze" }),
      ),
    );
  }

  /** Its subject; of a group without one the rule and the group. */
  snooze() {
    const { subject, rules } = this.one;
    const isField = subject.field !== null;
    openSnooze({
      rule: rules.length === 1 ? rules[0] : null,
      subject: isField ? { field: subject.field, value: subject.value } : null,
      group: subject.group,
      ticked: isField ? ["subject"] : ["ruleId", "group"],
    });
  }

  evidence(one) {
    const said = element(
      "p",
      { class: "muted", role: "status" },
      "What is on this page, with the proof of the newest alerts and all that counted for them, signed.",
    );
    return [evidenceButton("case", one.caseId, (text) => setText(said, text)), said];
  }

  alertList({ body, next }) {
    const list = element("ol", { class: "alerts", "aria-label": "Alerts of this case, newest first" });
    const add = (items) => {
      for (const alert of items) {
        const row = new AlertRow(alert, openAcknowledge);
        row.tick(Date.now());
        list.append(row.element);
      }
    };
    add(body.items);
    const error = element("p", { class: "error", role: "alert" });
    const older = button("Show older alerts", async () => {
      older.disabled = true;
      try {
        const page = await call(older.dataset.next);
        add(page.body.items);
        older.hidden = !page.next;
        older.dataset.next = page.next ?? "";
        setText(error, "");
      } catch (problem) {
        setText(error, `Older alerts cannot be read now: ${problem.message}`);
      } finally {
        older.disabled = false;
      }
    }, { class: "quiet wide", hidden: !next });
    older.dataset.next = next ?? "";
    return [list, error, older];
  }
}

function section(title, content, className = "") {
  return element("section", { class: `case-part ${className}` }, element("h2", {}, title), content);
}

function more(text) {
  return element("p", { class: "muted small" }, text);
}
