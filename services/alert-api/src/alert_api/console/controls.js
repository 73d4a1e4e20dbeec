// The commands to the whole line, each with a question before it is sent.

import { registry, session } from "./client.js";
import { confirm } from "./confirm.js";
import { button, byId, element, setText, toast } from "./dom.js";
import { counted, fullTime } from "./format.js";
import { feeds } from "./line.js";
import { here } from "./router.js";

const COMMANDS = [
  { command: "CLEAR_STATE_ALL", title: "Forget all history", go: "Forget history", danger: true, typed: true,
    what: "The engine forgets every window and every firing state, once. Rules stay, and judge on with empty windows until these have filled again." },
  { command: "CLEAR_STATE_ALL_STOP", title: "Stop forgetting", go: "Send it",
    what: "Accepted and recorded, and changes nothing: forgetting happens once, so there is nothing to stop." },
  { command: "EXPORT_RULES_CURRENT", title: "Have the engine name its rules", go: "Ask the engine",
    what: "Every shard publishes the rules it holds, so that what the engine knows can be compared with what the registry knows." },
  { command: "DELETE_RULES_ALL", title: "Delete all rules", go: "Delete all rules", danger: true, typed: true,
    what: "Every rule is retired for good, with one event each. Their alerts stay. This cannot be undone." },
];

const WAIT_MS = 60_000;
const TITLES = { ...Object.fromEntries(COMMANDS.map(({ command, title }) => [command, title])), TRACE_RULE: "Trace a rule" };
const EFFECTS = {
  DELETE_RULES_ALL: (item) => `${item.deletedRules} rules deleted.`,
  TRACE_RULE: (item) => `Rule ${item.ruleId}, until ${fullTime(item.traceUntil)}.`,
};
const SHOWN = 8;

export class ControlsView {
  constructor() {
    this.note = element("p", { class: "hint" });
    this.done = element("ol", { class: "history", "aria-label": "Commands so far" });
    this.buttons = [];
    byId("controls").append(element("div", { class: "panel" },
      element("div", { class: "panel-head" }, element("h1", {}, "Controls")),
      element("p", { class: "muted" }, "These act on the whole line, at one place in the order of all events. Each is recorded with your name."),
      this.note, element("ul", { class: "commands" }, COMMANDS.map((each) => this.card(each))),
      element("section", { class: "commands-done" }, element("h2", {}, "Commands so far"), this.done)));
  }

  forget() {
    this.done.replaceChildren();
  }

  open() {
    const may = session.may("controls:write");
    for (const each of this.buttons) each.disabled = !may;
    setText(this.note, may ? "" : "Your key may look, but not give commands.");
    this.read();
  }

  card(each) {
    const act = button(each.go, () => this.ask(each), { kind: each.danger ? "danger" : "quiet", dataset: { command: each.command } });
    this.buttons.push(act);
    return element("li", { class: "command" },
      element("div", {}, element("h2", {}, each.title), element("p", {}, each.what), element("p", { class: "mono muted" }, each.command)), act);
  }

  ask(each) {
    confirm({
      title: `${each.title}?`, what: each.what, go: each.go, danger: each.danger, word: each.typed ? each.command : null,
      act: async () => {
        await registry("/control-commands", { method: "POST", body: { command: each.command } });
        toast("Accepted.");
        feeds.rules.hurry();
        this.read();
      },
    });
  }

  async read() {
    try {
      const { body } = await registry(`/control-commands?limit=${SHOWN}`);
      this.waits = false;
      const items = await Promise.all(body.items.map((item) => withAnswers(item)));
      this.done.replaceChildren(...(items.length ? items.map((item) => this.entry(item)) : [element("li", {}, element("span", { class: "muted" }, "None yet."))]));
    } catch (error) {
      this.done.replaceChildren(element("li", {}, element("span", { class: "error" }, `They cannot be read now: ${error.message}`)));
    }
  }

  entry(item) {
    const effect = EFFECTS[item.command]?.(item) ?? item.effect;
    const isRecent = Date.now() - item.occurredAt < WAIT_MS;
    if (item.export && !item.export.complete && isRecent) this.waits = true;
    return element("li", {}, element("div", {}, element("b", {}, TITLES[item.command] ?? item.command),
      element("span", { class: "muted" }, `, by ${item.actor}, ${fullTime(item.occurredAt)}, position ${item.position}`),
      element("q", {}, item.export ? comparison(item.export, isRecent) : effect)));
  }

  /** Shards answer in their own time. */
  tick() {
    if (this.waits && here().view === "controls" && !document.hidden) this.read();
  }
}

async function withAnswers(item) {
  return item.command === "EXPORT_RULES_CURRENT" ? (await registry(`/control-commands/${item.commandId}`)).body : item;
}

function comparison({ shards, complete, equal, answers }, isRecent) {
  if (!complete) return isRecent ? `Waiting for the engine: ${answers.length} of ${shards ?? "?"} shards have answered.` : `Only ${answers.length} of ${shards ?? "?"} shards have answered.`;
  if (equal) return `The engine holds the ${counted(answers[0].rules.length, "rule")} that the registry published${shards > 1 ? `, in each of its ${shards} shards` : ""}.`;
  const list = (name) => [...new Set(answers.flatMap((each) => each[name]))];
  const said = [["missing", "missing in the engine"], ["unexpected", "held by the engine only"], ["different", "held in another version"]]
    .map(([name, text]) => [list(name), text]).filter(([ids]) => ids.length).map(([ids, text]) => `${ids.map((id) => id.ruleId ?? id).join(", ")} ${text}`);
  return `The shards do not hold what the registry published: rule ${said.join("; rule ")}.`;
}
