// Calls to the services, in the session of this browser. Every failure is one of five errors.

const TIMEOUT_MS = 6000;
const NO_CONTENT = 204;
const SESSION = "/v1/session";

/**
 * Who is signed in. What lets them in is a cookie, which no script sees; `token` goes with each request and says that
 * it is from this page and of this session. It is null where nobody is signed in.
 */
export const session = {
  token: null,
  actor: "",
  scopes: new Set(),
  open({ csrfToken, actor, scopes }) {
    Object.assign(this, { token: csrfToken, actor, scopes: new Set(scopes) });
  },
  close() {
    Object.assign(this, { token: null, actor: "", scopes: new Set() });
  },
  may(scope) {
    return this.scopes.has(scope);
  },
};

/** Makes this browser's session one of this key or token, which is kept nowhere here. */
export function enter(key) {
  return call(SESSION, { method: "POST", body: { key } });
}

/** Who is signed in in this browser, and the session's token. */
export async function whoAmI() {
  return (await call(SESSION)).body;
}

/** Ends the session. */
export function leave() {
  return call(SESSION, { method: "DELETE" });
}

/** What every request of the session has in its head. */
export function ofSession(headers) {
  return session.token === null ? headers : { ...headers, "X-CSRF-Token": session.token };
}

/** The service does not answer, or says that it cannot. */
export class Away extends Error {}

/** The service is not part of this installation. */
export class Absent extends Error {}

/** Nobody is signed in, or not any more (401). `wasIn`: the session was there and has ended. */
export class SignedOut extends Error {
  constructor(answer) {
    super(answer?.detail);
    this.wasIn = answer?.type === "urn:tripline:problem:session-ended";
  }
}

/** Another page of this browser signed somebody in anew. */
export class SomebodyElse extends SignedOut {}

/** The service answered with a problem (RFC 9457). */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? body?.title ?? `The service answered ${status}.`);
    this.status = status;
    this.body = body ?? {};
  }
}

/** Throws the error that an answer which is no success stands for. */
export function refuse(response, answer) {
  if (response.status === 401) throw new SignedOut(answer);
  if (answer?.type === "urn:tripline:problem:csrf-token") throw new SomebodyElse(answer);
  if (response.status === 404 && answer?.type === "urn:tripline:problem:not-connected") {
    throw new Absent(answer.detail);
  }
  if (response.status >= 500) throw new Away(answer?.detail ?? `status ${response.status}`);
  if (!response.ok) throw new Problem(response.status, answer);
}

/** The response to a request, whatever it says; an Away where there is none in time. */
export async function ask(path, request, timeout) {
  try {
    return await fetch(path, {
      ...request,
      signal: AbortSignal.timeout(timeout),
      cache: "no-store",
      credentials: "same-origin",
    });
  } catch (error) {
    throw new Away(String(error));
  }
}

/**
 * `{status, body, next, version}` of a call; `next` is the address of the next page or null, `version` the
 * ETag or null. After `seconds`, six unless more are given, there is no answer.
 */
export async function call(path, { method = "GET", body, version = null, seconds = null } = {}) {
  const headers = ofSession({ Accept: "application/json" });
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (version !== null) headers["If-Match"] = `"${version}"`;
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const timeout = seconds === null ? TIMEOUT_MS : 1000 * seconds;
  const response = await ask(path, { method, headers, body: sent }, timeout);
  const answer = await response.json().catch(() => null);
  refuse(response, answer);
  if (answer === null && response.status !== NO_CONTENT) throw new Away("an answer that is no JSON");
  const [, next = null] = /<([^>]+)>;\s*rel="next"/.exec(response.headers.get("Link") ?? "") ?? [];
  return { status: response.status, body: answer, next, version: response.headers.get("ETag") };
}

const REGISTRY = "/console/registry";

/** A call of the rules registry, by way of this service. */
export function registry(path, options) {
  return call(`${REGISTRY}${path}`, options);
}

/** Where a list of everything ends. */
export const MOST_ITEMS = 1000;

/** All pages of one of the registry's listings, up to a thousand items unless more are wanted. */
export async function registryItems(path, most = MOST_ITEMS) {
  const items = [];
  let next = `${path}${path.includes("?") ? "&" : "?"}limit=100`;
  while (next && items.length < most) {
    const page = await registry(next);
    items.push(...page.body.items);
    // The registry names its own address; the way there goes through this service.
    next = page.next && path.split("?")[0] + new URL(page.next, location.origin).search;
  }
  return items;
}
