// The commands of operators, each with a question before it is sent, and what was commanded so far.

import { registry, session } from "../core/client.js";
import { ClearGroupForm, ClearRuleForm } from "./clear_forms.js";
import { CommandCard } from "./command_card.js";
import { BACKFILL, effectOf, OF_RULES, titleOf, VOID, WHOLE_LINE } from "./command_texts.js";
import { byId, element, setText } from "../core/dom.js";
import { counted, fullTime } from "../core/format.js";
import { OpenBackfills } from "./backfill_list.js";
import { here } from "../core/router.js";
import { VoidForm } from "./void_form.js";

const WAIT_MS = 60_000;
const SHOWN = 8;

export class ControlsView {
  constructor() {
    this.note = element("p", { class: "hint" });
    this.done = element("ol", { class: "history", "aria-label": "Commands so far" });
    this.backfills = new OpenBackfills(() => this.read());
    this.voiding = new VoidForm();
    this.clears = [new ClearRuleForm("clear-rule"), new ClearGroupForm("clear-group")];
    const forms = {
      CLEAR_RULE: this.clears[0],
      CLEAR_GROUP: this.clears[1],
      VOID_TRANSACTION: this.voiding,
    };
    this.cards = [...OF_RULES, VOID, BACKFILL, ...WHOLE_LINE].map((command) =>
      new CommandCard(command, () => this.read(), forms[command.command] ?? null)
    );
    const backfill = this.cards.find(({ command }) => command === BACKFILL);
    backfill.element.querySelector("div").append(this.backfills.element);
    byId("controls").append(
      element(
        "div",
        { class: "panel" },
        element("div", { class: "panel-head" }, element("h1", {}, "Controls")),
        element(
          "p",
          { class: "muted" },
          "Each of these is one event, at one place in the order of all events, and is recorded " +
            "with your name.",
        ),
        this.note,
        element("ul", { class: "commands" }, this.cards.map((card) => card.element)),
        element("section", { class: "commands-done" }, element("h2", {}, "Commands so far"), this.done),
      ),
    );
  }

  forget() {
    this.done.replaceChildren();
    this.backfills.forget();
    for (const clear of this.clears) clear.offer([]);
  }

  open({ query }) {
    const may = session.may("controls:write");
    for (const card of this.cards) card.allow(may);
    setText(this.note, may ? "" : "Your key may look, but not give commands.");
    if (query.get("void")) this.voiding.write(query.get("void"), query.get("at") ?? "");
    this.read();
  }

  async read() {
    this.backfills.read();
    try {
      const { body } = await registry(`/control-commands?limit=${SHOWN}`);
      this.waits = false;
      const items = await Promise.all(body.items.map((item) => withAnswers(item)));
      this.done.replaceChildren(
        ...(items.length
          ? items.map((item) => this.entry(item))
          : [element("li", { class: "none" }, element("span", { class: "muted" }, "None yet."))]),
      );
    } catch (error) {
      this.done.replaceChildren(
        element("li", {}, element("span", { class: "error" }, `They cannot be read now: ${error.message}`)),
      );
    }
  }

  entry(item) {
    const isRecent = Date.now() - item.occurredAt < WAIT_MS;
    if (item.export && !item.export.complete && isRecent) this.waits = true;
    return element(
      "li",
      {},
      element(
        "div",
        {},
        element("b", {}, titleOf(item)),
        element(
          "span",
          { class: "muted" },
          `, by ${item.actor}, ${fullTime(item.occurredAt)}, position ${item.position}`,
        ),
        element("q", {}, item.export ? comparison(item.export, isRecent) : effectOf(item)),
      ),
    );
  }

  /** Shards answer in their own time. */
  tick() {
    if (this.waits && here().view === "controls" && !document.hidden) this.read();
  }
}

async function withAnswers(item) {
  return item.command === "EXPORT_RULES_CURRENT"
    ? (await registry(`/control-commands/${item.commandId}`)).body
    : item;
}

function comparison({ shards, complete, equal, answers }, isRecent) {
  if (!complete) {
    return isRecent
      ? `Waiting for the engine: ${answers.length} of ${shards ?? "?"} shards have answered.`
      : `Only ${answers.length} of ${shards ?? "?"} shards have answered.`;
  }
  if (equal) {
    return `The engine holds the ${counted(answers[0].rules.length, "rule")} that the registry published${
      shards > 1 ? `, in each of its ${shards} shards` : ""
    }.`;
  }
  const list = (name) => [...new Set(answers.flatMap((answer) => answer[name]))];
  const said = [["missing", "missing in the engine"], ["unexpected", "held by the engine only"], [
    "different",
    "held in another version",
  ]]
    .map(([name, text]) => [list(name), text]).filter(([ids]) => ids.length).map(([ids, text]) =>
      `${ids.map((id) => id.ruleId ?? id).join(", ")} ${text}`
    );
  return `The shards do not hold what the registry published: rule ${said.join("; rule ")}.`;
}
