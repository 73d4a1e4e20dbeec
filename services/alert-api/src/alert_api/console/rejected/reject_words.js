// What the engine's reasons and a record's states are called.

import { fullTime } from "../core/format.js";

const MOMENT = /\b1\d{12}\b/g;

export const CAUSES = {
  unparseable: "not readable",
  oversized: "too large",
  too_late: "too late",
  future_event: "from the future",
  out_of_order: "out of order",
  backfill_closed: "backfill closed",
};

/** What can be done about a record of that kind. */
export const ADVICE = {
  unparseable: "Correct the text so that it is a record again.",
  oversized: "Send what the record should have been.",
  too_late:
    "As it is it would be too late again: send it in a backfill that stands, and it counts, whatever its age.",
  future_event: "Correct its time, or send it again once that time has come.",
  out_of_order: "Send it in a backfill that stands, and it counts, whatever its age.",
  backfill_closed: "Start a backfill, and send it in that one.",
};

export const STATES = {
  open: "open",
  queued: "being sent",
  sent: "sent again",
  discarded: "discarded",
};

/** A reason of the engine's with its moments, which it tells in ms, as times. */
export function withTimes(detail) {
  return detail.replace(MOMENT, (ms) => fullTime(Number(ms)));
}
