// The changes of one rule that wait for somebody: an approval, a submission, or a second look.

import { arrange, element } from "../core/dom.js";
import { cardKey, ChangeCard } from "../changes/change_card.js";
import { editDraft } from "../changes/draft_form.js";
import { isOpen } from "./rule_reading.js";

export class RuleChanges {
  /** `onDone()` is called when one of them stands otherwise. */
  constructor(onDone) {
    Object.assign(this, { onDone, cards: new Map() });
    this.list = element("ul", { class: "rules" });
    this.element = element(
      "section",
      { class: "rule-waiting", hidden: true, "aria-label": "Changes that wait" },
      element("h2", {}, "What waits"),
      this.list,
    );
  }

  /** A card that is the same stays: somebody may be typing a reason. */
  take(changes) {
    const kept = new Map();
    for (const change of changes.filter(waits)) {
      const shown = cardKey(change);
      const old = this.cards.get(change.changeId);
      const card = old?.shown === shown ? old.card : this.card(change);
      card.tell(change);
      kept.set(change.changeId, { shown, card });
    }
    this.cards = kept;
    arrange(this.list, [...kept.values()].map(({ card }) => card.element));
    this.element.hidden = kept.size === 0;
  }

  card(change) {
    return new ChangeCard(change, {
      edit: (draft) => editDraft(draft, this.onDone),
      onDone: this.onDone,
    });
  }
}

function waits(change) {
  return isOpen(change) || change.awaitsReview;
}
