// Calls to the services, with the key of this tab. Every failure is one of three errors.

const KEY = "tripline.key";
const TIMEOUT_MS = 5000;

export const session = {
  get key() { return sessionStorage.getItem(KEY); },
  open(key) { sessionStorage.setItem(KEY, key); },
  close() { sessionStorage.removeItem(KEY); },
};

/** The service does not answer, or says that it cannot. */
export class Away extends Error {}

/** The key is unknown (401). */
export class SignedOut extends Error {}

/** The service answered with a problem (RFC 9457). */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? body?.title ?? `The service answered ${status}.`);
    this.status = status;
    this.body = body ?? {};
  }
}

/** `{body, next}` of a call; `next` is the address of the next page or null. */
export async function call(path, { method = "GET", body, key = session.key } = {}) {
  const headers = { Authorization: `Bearer ${key}`, Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS), cache: "no-store", credentials: "omit",
    });
  } catch (error) {
    throw new Away(String(error));
  }
  const answer = await response.json().catch(() => null);
  if (response.status === 401) throw new SignedOut(answer?.detail);
  if (response.status >= 500) throw new Away(answer?.detail ?? `status ${response.status}`);
  if (!response.ok) throw new Problem(response.status, answer);
  if (answer === null) throw new Away("an answer that is no JSON");
  const [, next = null] = /<([^>]+)>;\s*rel="next"/.exec(response.headers.get("Link") ?? "") ?? [];
  return { body: answer, next };
}
