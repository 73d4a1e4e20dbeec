// What came of a request: it is done, or it waits for somebody else.

import { toast } from "./dom.js";

/** Tells that it is done, or that nothing has changed yet. */
export function tell(answer, done) {
  toast(waits(answer) ? `Nothing has changed yet. ${waiting(answer.body)}` : done);
}

/** True where a second person has to approve what was asked for. */
export function waits(answer) {
  return answer.status === 202;
}

function waiting({ changeId, state }) {
  return state === "DRAFT"
    ? `Change ${changeId} is a draft: submit it under Changes.`
    : `Change ${changeId} waits for its approval.`;
}
