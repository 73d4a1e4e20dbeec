// Values as people read them. Decimals stay text all the way: no amount passes through a float.

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hour12: false });

/** "1234567.5" → "1,234,567.5" */
export function decimal(text) {
  const [, sign, digits, rest] = /^(-?)(\d+)(.*)$/.exec(String(text)) ?? [null, "", "", String(text)];
  return sign.replace("-", "\u2212") + digits.replace(/\B(?=(\d{3})+$)/g, ",") + rest;
}

export function timeOfDay(ms) {
  const date = new Date(ms);
  const today = date.toDateString() === new Date().toDateString();
  return today ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
}

export function fullTime(ms) {
  return whole.format(new Date(ms));
}

export function ago(ms, now) {
  const seconds = Math.round((now - ms) / 1000);
  if (seconds < -1) return "ahead of this clock";
  if (seconds < 2) return "just now";
  if (seconds < 100) return `${seconds} s ago`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}

/** A number of seconds in the largest unit that fits it without a rest. */
export function span(seconds) {
  const units = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
  const [size, name] = units.find(([unit]) => seconds % unit === 0);
  const count = seconds / size;
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

export function milliseconds(ms) {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** "paymentAmount" → "payment amount", "payeeId" → "payee" */
export function fieldName(name) {
  return name.replace(/Id$/, "").replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

/** A rule definition as one sentence. */
export function inWords(definition) {
  const kind = definition.aggregatorFunctionType;
  const what = kind === "COUNT" ? "Number of payments" : `${NAMES[kind] ?? kind} of ${fieldName(definition.aggregateFieldName ?? "")}`;
  const keys = definition.groupingKeyNames ?? [];
  const per = keys.length === 0 ? "over all payments" : `per ${keys.map(fieldName).join(" and ")}`;
  return `${what} ${per} within ${span(definition.windowSeconds)} ${operator(definition.limitOperatorType)} ${decimal(definition.limit)}`;
}

export function operator(sign) {
  return { ">=": "\u2265", "<=": "\u2264", "!=": "\u2260" }[sign] ?? sign;
}

const NAMES = { SUM: "Sum", AVG: "Average", MIN: "Smallest", MAX: "Largest" };
