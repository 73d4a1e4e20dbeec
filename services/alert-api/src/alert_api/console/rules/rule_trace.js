// The trace of one rule: switching it on for minutes, and its evaluations as they come.

import { Absent, Away, call, registry, session } from "../core/client.js";
import { confirm } from "../core/confirm.js";
import { arrange, button, element, ofNumbers, setText, tableHead, toast } from "../core/dom.js";
import { capital, MANY, ONE } from "../core/event_type.js";
import { fieldName, fullTime, timeOfDay } from "../core/format.js";
import { cameTo, holdsTag, sumCells, weighedTitle } from "../words/verdict.js";
import { feeds } from "../core/pipeline.js";

const SECONDS = 300;
const SHOWN = 50;
// What was judged in the last moments comes in a little later.
const GRACE_MS = 10_000;
const ASK_AGAIN_MS = 10_000;
const HEAD = ["Time", capital(ONE), "Group", ...ofNumbers("Value", "Limit"), "Result"];

export class RuleTrace {
  constructor(rule) {
    Object.assign(this, {
      rule,
      command: null,
      known: false,
      asked: 0,
      busy: false,
      trouble: null,
      rows: new Map(),
    });
    this.state = element(
      "p",
      { id: "trace-state", role: "status" },
      "Asking whether this rule is traced\u2026",
    );
    this.body = element("tbody");
    const may = session.may("controls:write");
    this.table = element(
      "div",
      {
        class: "table",
        hidden: true,
        tabindex: 0,
        role: "region",
        "aria-label": "Evaluations, newest first",
      },
      element(
        "table",
        { class: "traces", "aria-label": "Evaluations" },
        tableHead(HEAD),
        this.body,
      ),
    );
    this.element = element(
      "div",
      { class: "trace" },
      element(
        "p",
        { class: "muted" },
        `While a rule is traced, each of its evaluations is told: the ${ONE}, its group, the value ` +
          `beside the limit, and what came of it.`,
      ),
      element(
        "div",
        { class: "trace-head" },
        this.state,
        button("Trace for 5 minutes", () => this.ask(), { kind: "primary", hidden: !may }),
      ),
      may ? null : element("p", { class: "hint" }, "Your key may look, but not give commands."),
      this.table,
    );
    this.tick(Date.now());
  }

  ask() {
    confirm({
      title: "Trace this rule?",
      go: "Trace for 5 minutes",
      what: `Each evaluation of \u201c${this.rule.name}\u201d is written down for five minutes, for ` +
        `people to look at. Nothing else changes, and it ends by itself. It is recorded with your name.`,
      act: async () => {
        const { body } = await registry("/control-commands", {
          method: "POST",
          body: { command: "TRACE_RULE", ruleId: this.rule.ruleId, seconds: SECONDS },
        });
        Object.assign(this, { command: body, known: true });
        toast("Accepted.");
        this.tell();
      },
    });
  }

  /** Once a second while it is looked at: reads what came, as long as something may come. */
  async tick(now) {
    if (this.busy) return;
    this.busy = true;
    try {
      const first = this.asked === 0;
      if (now - this.asked >= ASK_AGAIN_MS) {
        this.asked = now;
        await this.findCommand();
      }
      if (first || this.trouble !== null || now < (this.command?.traceUntil ?? 0) + GRACE_MS) {
        await this.read();
      }
      this.trouble = null;
    } catch (error) {
      this.trouble = error instanceof Absent
        ? "Kafka is not connected to this console (TRIPLINE_KAFKA)."
        : `The trace cannot be read now: ${
          error instanceof Away ? "the service does not answer" : error.message
        }`;
    } finally {
      this.busy = false;
    }
    this.tell();
  }

  /** The last command that traced this rule counts; older ones than these have ended. */
  async findCommand() {
    const { body } = await registry("/control-commands?limit=100");
    const command = body.items.find((item) =>
      item.command === "TRACE_RULE" && item.ruleId === this.rule.ruleId
    );
    // One that was given here meanwhile is newer than this answer.
    if (command && command.position >= (this.command?.position ?? 0)) this.command = command;
    this.known = true;
  }

  async read() {
    const { body } = await call(`/v1/rules/${this.rule.ruleId}/traces?limit=${SHOWN}`);
    const kept = new Map();
    for (const item of body.items) {
      const key = `${item.version}-${item.partition}-${item.offset}-${item.side ?? ""}`;
      kept.set(key, this.rows.get(key) ?? row(item));
    }
    this.rows = kept;
    arrange(this.body, [...kept.values()]);
    this.table.hidden = kept.size === 0;
  }

  tell() {
    const current = feeds.rules.data?.find((other) => other.ruleId === this.rule.ruleId) ?? this.rule;
    const until = this.command?.traceUntil ?? 0;
    const none = this.rows.size === 0;
    if (this.trouble !== null) return setText(this.state, this.trouble);
    if (!this.known) return undefined;
    if (Date.now() >= until) {
      return setText(
        this.state,
        none
          ? "This rule is not traced now."
          : "This rule is not traced now. These are the last evaluations that were.",
      );
    }
    const paused = current.state === "PAUSED" ? " It is paused: it judges nothing until it is resumed." : "";
    const waiting = none && !paused ? ` No ${ONE} has come for it yet.` : "";
    return setText(
      this.state,
      `Traced until ${timeOfDay(until)}, by ${this.command.actor}.${paused}${waiting}`,
    );
  }
}

function row(item) {
  const group = Object.entries(item.group).map(([name, value]) => `${fieldName(name)} ${value}`).join(", ") ||
    `all ${MANY}`;
  const counted = `${item.contributingCount} in the window from ${
    fullTime(item.windowStart)
  }, version ${item.version}`;
  return element(
    "tr",
    { title: `Judged ${fullTime(item.judgedAt)}` },
    element("td", {}, timeOfDay(item.eventTime)),
    element("td", { class: "cut" }, item.transactionId),
    element("td", { class: "cut" }, item.side ? `${group} as ${item.side}` : group),
    ...(item.conditions ? ofConditions(item) : ofValue(item, counted)),
    element("td", {}, result(item), item.late ? element("span", { class: "tag warn" }, "late") : null),
  );
}

function ofValue(item, counted) {
  const [value, limit] = cells(item);
  return [
    element("td", { class: "number", title: counted }, value),
    element("td", { class: "number" }, limit),
  ];
}

/** A line for each condition, in the order of the rule, its value beside its limit, and for each sum of weights. */
function ofConditions({ conditions, weighted = [] }) {
  const lines = [
    ...conditions.map((condition, index) => {
      const title = `Condition ${index + 1} ${
        holdsTag(condition)
      }; ${condition.contributingCount} in its window`;
      return line(condition, cells(condition), title);
    }),
    ...weighted.map((weighing) => line(weighing, sumCells(weighing), weighedTitle(weighing))),
  ];
  return [0, 1].map((column) => element("td", { class: "number" }, lines.map((cell) => cell[column])));
}

function line({ holds }, texts, title) {
  return texts.map((text) => element("div", { class: holds ? "held" : null, title }, text));
}

function cells(judged) {
  return cameTo(judged).map((text) => text.trim());
}

function result({ holds, alerted }) {
  if (alerted) return element("span", { class: "tag alarm" }, "alert");
  return element("span", { class: "tag" }, holds ? "holds, no alert" : "does not hold");
}
