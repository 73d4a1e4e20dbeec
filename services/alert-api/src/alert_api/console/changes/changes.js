// Changes that a second person has to approve: what waits, what was done alone, and what came of the others.

import { registry, session } from "../core/client.js";
import { arrange, button, byId, element, setText } from "../core/dom.js";
import { here } from "../core/router.js";
import { feeds } from "../core/pipeline.js";
import { editDraft } from "./draft_form.js";
import { cardKey, ChangeCard } from "./change_card.js";

const AGAIN_MS = 5000;
const SHOWN = 50;
// The newest, and whatever waits for somebody, however old it is.
const ASKED = ["", "&state=SUBMITTED", "&unreviewed=true"];

export class ChangesView {
  constructor() {
    this.readAt = 0;
    this.cards = new Map();
    this.list = element("ul", { class: "rules", "aria-label": "Changes" });
    this.empty = element("p", { class: "empty" });
    this.trouble = element("p", { class: "error", role: "alert" });
    byId("changes").append(
      element(
        "div",
        { class: "panel" },
        element(
          "div",
          { class: "panel-head" },
          element("h1", {}, "Changes"),
          button("Read again", () => this.read()),
        ),
        element(
          "p",
          { class: "muted changes-intro" },
          "What could silence an alert is done by nobody alone: somebody else approves it here.",
        ),
        this.trouble,
        this.list,
        this.empty,
      ),
    );
  }

  forget() {
    this.cards.clear();
    this.list.replaceChildren();
    setText(this.empty, "");
  }

  open() {
    feeds.rules.hurry();
    this.read();
  }

  tick(now) {
    if (here().view === "changes" && !document.hidden && now - this.readAt >= AGAIN_MS) this.read();
  }

  async read() {
    this.readAt = Date.now();
    const { token } = session;
    try {
      const answers = await Promise.all(ASKED.map((query) => registry(`/changes?limit=${SHOWN}${query}`)));
      const changes = new Map(answers.flatMap(({ body }) => body.items).map((one) => [one.changeId, one]));
      if (token === session.token) this.take([...changes.values()]);
      setText(this.trouble, "");
    } catch (error) {
      setText(this.trouble, `The changes cannot be read now: ${error.message}`);
    }
  }

  /** What waits for somebody comes first, then what was done alone, then drafts, then the rest. */
  take(changes) {
    const rank = (change) =>
      change.state === "SUBMITTED" ? 0 : change.awaitsReview ? 1 : change.state === "DRAFT" ? 2 : 3;
    const sorted = [...changes].sort((a, b) => rank(a) - rank(b) || b.changeId - a.changeId);
    const kept = new Map();
    for (const change of sorted) {
      // the rule's name may come later than the change
      const shown = cardKey(change);
      const old = this.cards.get(change.changeId);
      const card = old?.shown === shown ? old.card : new ChangeCard(change, {
        edit: (draft) => editDraft(draft, () => this.read()),
        onDone: () => this.done(),
      });
      card.tell(change);
      kept.set(change.changeId, { shown, card });
    }
    this.cards = kept;
    arrange(this.list, [...kept.values()].map(({ card }) => card.element));
    setText(this.empty, changes.length ? "" : "No change waits, and none has been made yet.");
  }

  done() {
    feeds.rules.hurry();
    this.read();
  }
}
