// Values as people read them. Decimals stay text all the way: no amount passes through a float.

import { fieldOf } from "./event_type.js";

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const hour = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});
const whole = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/** "1234567.5" → "1,234,567.5" */
export function decimal(text) {
  const [, sign, digits, rest] = /^(-?)(\d+)(.*)$/.exec(String(text)) ?? [null, "", "", String(text)];
  return sign.replace("-", "\u2212") + digits.replace(/\B(?=(\d{3})+$)/g, ",") + rest;
}

/** A count or a rate: "12,300", "4.2" below ten. */
export function figure(number) {
  return number.toLocaleString("en", { maximumFractionDigits: Math.abs(number) < 10 ? 1 : 0 });
}

export function timeOfDay(ms) {
  const date = new Date(ms);
  const today = date.toDateString() === new Date().toDateString();
  return today ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
}

/** A moment as a field for date and time has it: to the second, in this zone; "" for none. */
export function fieldTime(ms) {
  if (ms === null) return "";
  const local = ms - new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(local).toISOString().slice(0, 19);
}

/** "1 May, 11:00": where the year goes without saying, and seconds say nothing. */
export function hourTime(ms) {
  return hour.format(new Date(ms));
}

export function fullTime(ms) {
  return whole.format(new Date(ms));
}

/** "Europe/Berlin (UTC+1)": the zone that all times are shown in. */
export function timeZone(time = new Date()) {
  const { timeZone: name } = Intl.DateTimeFormat().resolvedOptions();
  const minutes = -time.getTimezoneOffset();
  const rest = Math.abs(minutes) % 60;
  const hours = `${minutes < 0 ? "\u2212" : "+"}${Math.floor(Math.abs(minutes) / 60)}${
    rest ? `:${String(rest).padStart(2, "0")}` : ""
  }`;
  return minutes === 0 && name === "UTC" ? "UTC" : `${name} (UTC${hours})`;
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

/** Units of windows, the largest first: seconds and name. */
export const UNITS = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];

/** `[count, unit]` of a number of seconds in the largest unit that fits it without a rest. */
export function inUnits(seconds) {
  const [size] = UNITS.find(([unit]) => seconds % unit === 0);
  return [seconds / size, size];
}

export function span(seconds) {
  const [count, size] = inUnits(seconds);
  const [, name] = UNITS.find(([unit]) => unit === size);
  return counted(count, name);
}

/** "1 rule", "2 rules"; `several` of names that do not take an s. */
export function counted(count, name, several = `${name}s`) {
  return `${count} ${count === 1 ? name : several}`;
}

export function milliseconds(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 100_000 ? `${(ms / 1000).toFixed(1)} s` : span(Math.round(ms / 60_000) * 60);
}

/** "SomeName" → "some name" */
export function spaced(name) {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

/** What people call a field: by its label, or "someKeyId" → "some key" */
export function fieldName(name) {
  return fieldOf(name)?.label ?? spaced(name.replace(/Id$/, ""));
}

/** And several of it. */
export function fieldNames(name) {
  return fieldOf(name)?.plural ?? `${fieldName(name)}s`;
}

export function operator(sign) {
  return { ">=": "\u2265", "<=": "\u2264", "!=": "\u2260" }[sign] ?? sign;
}

export function bytes(count) {
  return count < 1e6 ? `${figure(count / 1e3)} kB` : `${figure(count / 1e6)} MB`;
}
