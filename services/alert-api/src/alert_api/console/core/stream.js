// The alerts as they happen: server-sent events, read by hand because a browser's EventSource sends no header.

import { Away, ofSession, refuse, SignedOut } from "./client.js";

const SILENCE_MS = 25_000;
const AGAIN_MS = 2000;

/** The messages in a piece of text; what is not a whole message yet is given back as the rest. */
export function readMessages(text) {
  const blocks = text.split("\n\n");
  const rest = blocks.pop();
  const messages = blocks.map((block) => {
    const message = { event: null, id: null, data: [] };
    for (const line of block.split("\n")) {
      const colon = line.indexOf(":");
      if (colon <= 0) continue;
      const name = line.slice(0, colon);
      const value = line.slice(colon + 1).replace(/^ /, "");
      if (name === "data") message.data.push(value);
      else if (name === "event" || name === "id") message[name] = value;
    }
    return message;
  });
  return { messages, rest };
}

/** As many streams as may be open are open. */
class Full extends Away {}

/** A later stream of this actor took the seat of this one. */
class Replaced extends Away {}

export class AlertStream {
  /**
   * `onEvent(kind, alert)` for each event, `onHealth(trouble)` with null while the stream is open, `onFull()`
   * each
   * time that all streams are taken: the newest alerts have to be asked for then.
   */
  constructor({ onEvent, onHealth, onFull, onSignedOut }) {
    Object.assign(this, { onEvent, onHealth, onFull, onSignedOut });
    this.last = null;
    this.round = 0;
  }

  /** Reads until `stop`; comes back after every interruption, right after the last message it saw. */
  async start() {
    this.round += 1;
    const round = this.round;
    while (round === this.round) {
      try {
        await this.read(round);
      } catch (error) {
        if (round !== this.round) return;
        if (error instanceof SignedOut) return this.onSignedOut(error);
        // A place that the service does not take would be refused for ever.
        if (!(error instanceof Away)) this.last = null;
        if (error instanceof Replaced) await this.standBack(round);
        else if (error instanceof Full) this.onFull();
        else this.onHealth(error instanceof Away ? "does not answer" : error.message);
      }
      await new Promise((resume) => setTimeout(resume, AGAIN_MS));
    }
    return undefined;
  }

  /**
   * Asks for the newest alerts until somebody comes back to this window: a stream that came back by itself
   * would end another one, which would come back too.
   */
  async standBack(round) {
    let wanted = false;
    const want = () => wanted = true;
    addEventListener("focus", want, { once: true });
    while (round === this.round && !wanted) {
      this.onFull();
      await new Promise((resume) => setTimeout(resume, AGAIN_MS));
    }
    removeEventListener("focus", want);
  }

  stop() {
    this.round += 1;
    this.last = null;
    this.abort?.abort();
  }

  async read(round) {
    this.abort = new AbortController();
    const headers = ofSession({ Accept: "text/event-stream" });
    if (this.last) headers["Last-Event-ID"] = this.last;
    let silence = null;
    const listen = () => {
      clearTimeout(silence);
      silence = setTimeout(() => this.abort.abort(), SILENCE_MS);
    };
    try {
      listen();
      const response = await fetch("/v1/alerts/stream", {
        headers,
        signal: this.abort.signal,
        cache: "no-store",
        credentials: "same-origin",
      });
      if (!response.ok) {
        const answer = await response.json().catch(() => null);
        if (answer?.type === "urn:tripline:problem:too-many-streams") throw new Full();
        refuse(response, answer);
      }
      this.onHealth(null);
      await this.take(response.body.pipeThrough(new TextDecoderStream()).getReader(), round, listen);
    } catch (error) {
      if (error instanceof TypeError || error.name === "AbortError") throw new Away(String(error));
      throw error;
    } finally {
      clearTimeout(silence);
    }
  }

  async take(reader, round, listen) {
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done || round !== this.round) return;
      listen();
      const { messages, rest } = readMessages(text + value);
      text = rest;
      for (const message of messages) {
        if (message.event === "StreamReplaced") throw new Replaced();
        if (message.event) this.onEvent(message.event, JSON.parse(message.data.join("\n")));
        if (message.id) this.last = message.id;
      }
    }
  }
}
