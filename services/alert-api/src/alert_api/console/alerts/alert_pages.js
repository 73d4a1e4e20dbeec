// The alerts of any number of rules, page by page, the newest first. The alert API takes a hundred rules at once: each
// hundred is a listing of its own, and what they give is put into one order here.

import { call } from "../core/client.js";

const PAGE = 25;
/** The alert API is asked for so many rules at once. */
export const MOST_RULES = 100;
// More at once would only wait for each other, and time out.
const AT_ONCE = 5;
// A reading may be empty and not the last one: it looks at so many alerts and no more.
const MOST_READINGS = 10;

/** The order of all lists of alerts. */
export function newestFirst(a, b) {
  return b.eventTime - a.eventTime || (a.alertId < b.alertId ? -1 : 1);
}

/** Rule ids by the hundred. */
export function hundreds(ruleIds) {
  const ids = [...ruleIds];
  const parts = Math.ceil(ids.length / MOST_RULES);
  return Array.from({ length: parts }, (_, part) => ids.slice(part * MOST_RULES, (part + 1) * MOST_RULES));
}

/** `items.map(ask)`, a few of them at a time. */
export async function fewAtOnce(items, ask) {
  const answers = [];
  const waiting = [...items.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) answers[next[0]] = await ask(next[1]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return answers;
}

export class AlertPages {
  /** `query` is the API's; `ruleIds` take the place of the rule in it, null leaves it as it is. */
  constructor(query, ruleIds) {
    this.listings = (ruleIds === null ? [null] : hundreds(ruleIds)).map((ids) => {
      const asked = new URLSearchParams(query);
      if (ids !== null) {
        asked.delete("ruleId");
        for (const id of ids) asked.append("ruleId", id);
      }
      asked.set("limit", PAGE);
      return { next: `/v1/alerts?${asked}`, alerts: [] };
    });
    // Merged and not given yet: an answer that does not come takes nothing away.
    this.merged = [];
  }

  /** Whether there are alerts beyond those that were given. */
  get hasMore() {
    return this.merged.length > 0 || this.listings.some(({ next, alerts }) => next || alerts.length > 0);
  }

  /** The next page; a shorter one at the end, or where many alerts that do not fit lie between those that do. */
  async next() {
    for (let reading = 0; reading < MOST_READINGS && this.merged.length < PAGE;) {
      // Which alert is the newest is known once each listing shows its own newest one.
      const empty = this.listings.filter(({ next, alerts }) => next && !alerts.length);
      reading += empty.length > 0 ? 1 : 0;
      await fewAtOnce(empty, read);
      // One that has given nothing, and goes on, may have a newer alert than all others.
      if (this.listings.some(({ next, alerts }) => next && !alerts.length)) continue;
      const [newest] = this.listings.filter(({ alerts }) => alerts.length)
        .sort((a, b) => newestFirst(a.alerts[0], b.alerts[0]));
      if (!newest) break;
      this.merged.push(newest.alerts.shift());
    }
    return this.merged.splice(0, PAGE);
  }
}

async function read(listing) {
  const { body, next } = await call(listing.next);
  listing.next = next;
  listing.alerts.push(...body.items);
}
