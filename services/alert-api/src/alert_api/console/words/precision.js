// How exactly windows end: to the transaction, or by buckets, and what an alert of a bucketed rule says about
// the exact window.

import { decimal, span } from "../core/format.js";

/** The length of the buckets in seconds; null where windows are exact. */
export function bucketSeconds(precision) {
  const [, seconds = null] = /^bucketed\((\d+)\)$/.exec(precision ?? "") ?? [];
  return seconds === null ? null : Number(seconds);
}

/** "bucketed(3600)" → "in buckets of 1 hour" */
export function precisionInWords(precision) {
  const seconds = bucketSeconds(precision);
  return seconds === null ? "exact" : inBuckets(seconds);
}

export function inBuckets(seconds) {
  return `in buckets of ${span(seconds)}`;
}

/** What the value would be over the exact window. */
export function bounds({ atLeast, atMost }) {
  if (atLeast === null && atMost === null) return "not bounded for the exact window";
  if (atLeast === null) return `at most ${decimal(atMost)} for the exact window`;
  if (atMost === null) return `at least ${decimal(atLeast)} for the exact window`;
  if (atLeast === atMost) return `${decimal(atLeast)} for the exact window too`;
  return `between ${decimal(atLeast)} and ${decimal(atMost)} for the exact window`;
}
