// The backfills that are open: what their transactions have to say, and how each is ended.

import { registry, session } from "../core/client.js";
import { confirm } from "../core/confirm.js";
import { button, element, labelled, toast } from "../core/dom.js";
import { capital, MANY } from "../core/event_type.js";
import { fullTime } from "../core/format.js";

export class OpenBackfills {
  /** `onDone` is called when one was ended. */
  constructor(onDone) {
    this.onDone = onDone;
    this.shown = null;
    this.list = element("ul", { class: "open-backfills", "aria-label": "Open backfills" });
    this.element = element("div", { class: "command-form" }, this.list);
  }

  forget() {
    this.shown = null;
    this.list.replaceChildren();
  }

  async read() {
    try {
      const { body } = await registry("/backfills?state=open&limit=100");
      const shown = JSON.stringify([body.items, session.may("controls:write")]);
      // what is being typed stays
      if (shown === this.shown) return;
      this.shown = shown;
      this.list.replaceChildren(
        ...(body.items.length
          ? body.items.map((backfill) => this.entry(backfill))
          : [element("li", { class: "muted small" }, "None is open.")]),
      );
    } catch (error) {
      this.shown = null;
      this.list.replaceChildren(
        element("li", { class: "error" }, `The open backfills cannot be read now: ${error.message}`),
      );
    }
  }

  entry(backfill) {
    const since = element("input", { type: "datetime-local", step: 1, id: `whole-${backfill.backfillId}` });
    const end = button("End it", () => this.end(backfill, since), {
      "aria-label": `End backfill ${backfill.backfillId}`,
    });
    return element(
      "li",
      {},
      element(
        "p",
        {},
        element("b", { class: "mono" }, backfill.backfillId),
        element(
          "span",
          { class: "muted small" },
          ` open since ${fullTime(backfill.startedAt)}, by ${backfill.startedBy}`,
        ),
      ),
      element(
        "p",
        { class: "hint" },
        "Its records carry the Kafka header ",
        element("span", { class: "mono" }, "backfill"),
        " with this id; the traffic generator sends it for ",
        element("span", { class: "mono" }, `POST /v1/replays?shift=none&backfill=${backfill.backfillId}`),
      ),
      element(
        "div",
        { class: "backfill-end", hidden: !session.may("controls:write") },
        labelled("History is whole from (left open: not said)", since),
        end,
      ),
    );
  }

  end(backfill, since) {
    const completeFrom = since.value ? Date.parse(since.value) : null;
    const whole = completeFrom === null
      ? "History counts as whole from when it did before."
      : `History counts as whole from ${fullTime(completeFrom)} on, as far as it is kept.`;
    confirm({
      title: "End this backfill?",
      what: `${capital(MANY)} that name ${backfill.backfillId} are rejected from then on. ${whole}`,
      go: "End the backfill",
      act: async () => {
        const body = {
          command: "END_BACKFILL",
          backfillId: backfill.backfillId,
          ...(completeFrom === null ? {} : { completeFrom }),
        };
        await registry("/control-commands", { method: "POST", body });
        toast("Ended.");
        this.onDone();
      },
    });
  }
}
