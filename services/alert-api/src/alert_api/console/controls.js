// The commands to the whole line, each with a question before it is sent.

import { Problem, registry, session } from "./client.js";
import { confirm } from "./confirm.js";
import { button, byId, element, setText, toast } from "./dom.js";
import { fullTime } from "./format.js";
import { feeds } from "./line.js";

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

export class ControlsView {
  constructor() {
    this.note = element("p", { class: "hint" });
    this.done = element("ol", { class: "history" });
    this.buttons = [];
    this.past = element("section", { hidden: true }, element("h2", {}, "Sent from this window"), this.done);
    byId("controls").append(element("div", { class: "panel" },
      element("div", { class: "panel-head" }, element("h1", {}, "Controls")),
      element("p", { class: "muted" }, "These act on the whole line, at one place in the order of all events. Each is recorded with your name."),
      this.note, element("ul", { class: "commands" }, COMMANDS.map((each) => this.card(each))), this.past));
  }

  forget() {
    this.done.replaceChildren();
    this.past.hidden = true;
  }

  open() {
    const may = session.may("controls:write");
    for (const each of this.buttons) each.disabled = !may;
    setText(this.note, may ? "" : "Your key may look, but not give commands.");
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
        try {
          const { body } = await registry("/control-commands", { method: "POST", body: { command: each.command } });
          this.record(each, body);
          toast("Accepted.");
          feeds.rules.hurry();
        } catch (error) {
          throw error instanceof Problem && error.status === 404 ? new Error("This registry takes no commands.") : error;
        }
      },
    });
  }

  record(each, body) {
    this.past.hidden = false;
    const place = body.position ? ` at position ${body.position}` : "";
    this.done.prepend(element("li", {}, element("div", {}, `${each.title}: accepted${place}`,
      element("span", { class: "muted" }, `, ${fullTime(body.occurredAt ?? Date.now())}`),
      body.detail || body.message || body.note ? element("q", {}, body.detail ?? body.message ?? body.note) : null)));
  }
}
