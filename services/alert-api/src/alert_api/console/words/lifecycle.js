// The life of a rule that is published: where it stands, and the steps that lead on from there.

/** The registry decides by the same table; a test holds the two together. */
export const STEPS = {
  "APPROVED": ["begin", "pause", "retire"],
  "ACTIVE": ["end", "pause", "retire"],
  "EXPIRED": ["pause", "retire"],
  "PAUSED": ["resume", "retire"],
  "RETIRED": [],
};
/** All states in the order of a life; the first two are of a change that waits. */
export const LIFE = [
  ["DRAFT", "draft"],
  ["SUBMITTED", "submitted"],
  ["APPROVED", "approved"],
  ["ACTIVE", "active"],
  ["PAUSED", "paused"],
  ["EXPIRED", "ended"],
  ["RETIRED", "retired"],
];
const CAN_BE = { pause: "paused", resume: "resumed", retire: "retired for good" };

/** Where it stands: approved is published and not in force yet. */
export function lifecycleOf({ state, effectiveFrom, effectiveUntil }, now) {
  if (state === "DELETED") return "RETIRED";
  if (state === "PAUSED") return "PAUSED";
  if (effectiveUntil && effectiveUntil <= now) return "EXPIRED";
  return effectiveFrom > now ? "APPROVED" : "ACTIVE";
}

/** What can become of it, as a sentence. */
export function stepsInWords(lifecycle) {
  const words = STEPS[lifecycle].map((step) => CAN_BE[step]).filter(Boolean);
  if (!words.length) return "It is retired for good: its id is never used again, and its alerts stay.";
  const begins = lifecycle === "APPROVED" ? "It comes in force by itself. Until then it" : "From here it";
  return `${begins} can be ${words.join(" or ")}.`;
}
