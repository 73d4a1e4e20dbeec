// A reading that is taken again and again, with what is known when it fails.

import { Absent, Away, session, SignedOut } from "./client.js";

export class Feed {
  /** `read` gives the data; `wanted` says whether anybody looks. */
  constructor(title, read, { everyMs = 1000, wanted = () => true } = {}) {
    Object.assign(this, { title, read, everyMs, wanted });
    this.listeners = [];
    this.forget();
  }

  /** `state` is waiting, good, away (see `trouble`, `since`) or absent; `data` is the last good reading. */
  forget() {
    Object.assign(this, { state: "waiting", data: null, goodAt: null, since: null, trouble: null });
  }

  /** Calls `listener(this)` for each reading; soon for the last one, where there was one. */
  listen(listener) {
    this.listeners.push(listener);
    if (this.state !== "waiting") queueMicrotask(() => listener(this));
  }

  /** Rounds for ever; one feed's slowness does not hold up another. A hidden tab reads nothing. */
  async run(onSignedOut) {
    for (;;) {
      if (session.token && !document.hidden && this.wanted()) await this.take(onSignedOut);
      await new Promise((resume) => {
        setTimeout(resume, this.everyMs);
        this.resume = resume;
      });
    }
  }

  /** Reads now instead of at the next round. */
  hurry() {
    this.resume?.();
  }

  async take(onSignedOut) {
    const { token } = session;
    try {
      const data = await this.read();
      if (token !== session.token) return;
      Object.assign(this, { state: "good", data, goodAt: Date.now(), since: null, trouble: null });
    } catch (error) {
      if (token !== session.token) return;
      if (error instanceof SignedOut) return void onSignedOut(error);
      this.state = error instanceof Absent ? "absent" : "away";
      this.since ??= Date.now();
      this.trouble = error instanceof Away ? "does not answer" : error.message;
    }
    this.tell();
  }

  tell() {
    for (const listener of this.listeners) listener(this);
  }
}
