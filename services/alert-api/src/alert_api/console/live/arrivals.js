// How many came in the last minute, and how long they took: bounded work and memory, however many come.
//
//   a minute ago ├────┼────┼ … ┼────┼────┤ now       slots of 250 ms: a count each, and some of the times taken

const SLOT_MS = 250;
const MINUTE = 60_000;
// Ten thousand values at most are sorted for the share of a minute.
const KEPT_OF_A_SLOT = 40;

export class Arrivals {
  constructor(random = Math.random) {
    this.random = random;
    this.slots = [];
  }

  /** One came at `now`; it took so many ms, or null where nobody knows. */
  add(now, took = null) {
    const begin = Math.floor(now / SLOT_MS) * SLOT_MS;
    let slot = this.slots.at(-1);
    if (slot?.begin !== begin) {
      this.forgetBefore(now - MINUTE);
      slot = { begin, count: 0, timed: 0, took: [] };
      this.slots.push(slot);
    }
    slot.count += 1;
    if (took === null) return;
    slot.timed += 1;
    // All have the same chance to be among those kept (reservoir sampling).
    const index = slot.took.length < KEPT_OF_A_SLOT
      ? slot.took.length
      : Math.floor(this.random() * slot.timed);
    if (index < KEPT_OF_A_SLOT) slot.took[index] = took;
  }

  /** How many came since then. */
  count(since) {
    return this.slots.reduce((sum, slot) => (slot.begin + SLOT_MS > since ? sum + slot.count : sum), 0);
  }

  /** How long those since then took, sorted; of very many a sample. */
  took(since) {
    return this.slots.filter((slot) => slot.begin + SLOT_MS > since).flatMap((slot) => slot.took)
      .sort((a, b) => a - b);
  }

  forgetBefore(time) {
    while (this.slots.length && this.slots[0].begin + SLOT_MS <= time) this.slots.shift();
  }
}
