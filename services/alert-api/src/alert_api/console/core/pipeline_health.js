// Is the engine there, and is it keeping up? Said from what is measured, not from what it says of itself.
//
//   written to Kafka   ────────────────────────────●  now
//   judged             ───────────────────●            how far the engine is behind

import { capital, MANY } from "./event_type.js";
import { feeds } from "./pipeline.js";
import { timeOfDay } from "./format.js";

const KEPT_MS = 300_000;
const BEHIND_SECONDS = 5;
const STALLED_SECONDS = 15;

export class EngineHealth {
  constructor() {
    this.forget();
    feeds.transactions.listen((feed) => this.takeTransactions(feed));
    feeds.engine.listen((feed) => this.takeEngine(feed));
  }

  forget() {
    this.written = [];
    this.engine = null;
    this.moved = null;
  }

  takeTransactions(feed) {
    if (feed.state !== "good") return;
    const now = Date.now();
    this.written.push({ at: now, count: feed.data.written });
    while (this.written[0].at < now - KEPT_MS) this.written.shift();
  }

  takeEngine(feed) {
    if (feed.state !== "good") return;
    const batches = total(feed.data, "batch_seconds_count");
    const count = this.written.at(-1)?.count ?? 0;
    if (this.moved?.batches !== batches) this.moved = { batches, at: Date.now(), written: count };
    this.engine = { ready: feed.data.ready, lag: total(feed.data, "lag_records"), batches };
  }

  /** `{level: good|behind|starting|away|unknown, text, seconds}`; `text` is a whole sentence. */
  verdict(now = Date.now()) {
    const feed = feeds.engine;
    if (feed.state === "absent") {
      return {
        level: "unknown",
        text: "The engine's metrics are not connected: how it is cannot be said here.",
      };
    }
    if (feed.state === "away") {
      return {
        level: "away",
        text: `The engine is away since ${
          timeOfDay(feed.since)
        }. No rule fires until it is back; ${MANY} wait in Kafka, and none is lost.`,
      };
    }
    if (!this.engine) return { level: "unknown", text: "Asking the engine\u2026" };
    if (!this.engine.ready) {
      return {
        level: "starting",
        text: `The engine is starting. ${capital(MANY)} wait in Kafka, and none is lost.`,
      };
    }
    const stalled = this.stalledFor(now);
    if (stalled >= STALLED_SECONDS) {
      return {
        level: "away",
        seconds: stalled,
        text: `The engine has judged nothing for ${
          Math.round(stalled)
        } s, though ${MANY} came in. They wait in Kafka, and none is lost.`,
      };
    }
    const { seconds, atLeast } = this.behind(now);
    if (seconds >= BEHIND_SECONDS) {
      return {
        level: "behind",
        seconds,
        text: `The engine is ${atLeast ? "at least " : ""}${Math.round(seconds)} s behind the ${MANY} (${
          this.engine.lag.toLocaleString("en")
        } waiting). Alerts come late, and none is lost.`,
      };
    }
    return { level: "good", seconds, text: "The engine keeps up." };
  }

  stalledFor(now) {
    const latest = this.written.at(-1);
    return latest && this.moved && latest.count > this.moved.written ? (now - this.moved.at) / 1000 : 0;
  }

  /**
   * How long ago that much had been written as is judged now; `atLeast` when that was before this page
   * looked.
   */
  behind(now) {
    const latest = this.written.at(-1);
    if (!latest || this.engine.lag === 0) return { seconds: 0, atLeast: false };
    const judged = latest.count - this.engine.lag;
    const passed = this.written.find((reading) => reading.count >= judged);
    // What is written and what is judged are asked for a second apart.
    return {
      seconds: passed ? Math.max(0, (now - passed.at) / 1000 - 1) : 0,
      atLeast: passed === this.written[0],
    };
  }
}

/** A metric of the engine, added up over its labels; 0 where there is none. */
export function total(engine, name, wanted = () => true) {
  return (engine?.samples?.[name] ?? []).filter((sample) => wanted(sample.labels)).reduce(
    (sum, sample) => sum + sample.value,
    0,
  );
}
