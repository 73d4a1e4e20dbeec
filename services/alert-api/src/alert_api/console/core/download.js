// What a service answers, as a file of the reader's.

import { ask, ofSession, refuse } from "./client.js";
import { element } from "./dom.js";

const TIMEOUT_MS = 30_000;

/** Asks for it in this session and saves it under that name. Throws what `call` throws. */
export async function save(path, name, { method = "GET", timeout = TIMEOUT_MS } = {}) {
  const response = await ask(path, { method, headers: ofSession({}) }, timeout);
  if (!response.ok) refuse(response, await response.json().catch(() => null));
  const address = URL.createObjectURL(await response.blob());
  element("a", { href: address, download: name }).click();
  // the click has begun to read it; a moment later nobody needs the address
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
