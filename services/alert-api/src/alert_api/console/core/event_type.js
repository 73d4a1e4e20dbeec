// What this installation judges and what people call it, asked once, before anything of the page is made.

const ASK_AGAIN_MS = 1500;

async function ask() {
  for (;;) {
    try {
      const answer = await fetch("/console/event-type", { credentials: "omit" });
      if (answer.ok) return await answer.json();
    } catch { /* the service starts, or the network is away: the page waits for it */ }
    await new Promise((again) => setTimeout(again, ASK_AGAIN_MS));
  }
}

const declared = await ask();

/** Declared fields, each `{name, role, kind, label, plural, values, …}`, in their order. */
export const FIELDS = declared.fields;

/** What one and several of them are called. */
export const ONE = declared.noun;
export const MANY = declared.plural;
export const A = /^[aeiou]/i.test(ONE) ? "an" : "a";

/** Names of the fields that one can group by, numbers last. */
export const KEYS = [
  ...FIELDS.filter((field) => field.groupable && field.kind !== "decimal"),
  ...FIELDS.filter((field) => field.groupable && field.kind === "decimal"),
]
  .map((field) => field.name);

/** What is one group on whichever side of an event it is, each `{name, sides}`. */
const PARTIES = declared.parties ?? [];

/** All that rules can group by: fields, then parties. */
export const GROUPINGS = [...KEYS, ...PARTIES.map((party) => party.name)];

/** The fields of a party's sides; none of what is no party. */
export function sidesOf(name) {
  const party = PARTIES.find((known) => known.name === name);
  return party === undefined ? [] : party.sides.map((side) => side.field);
}

/** Names of the sides of parties. */
export const SIDES = [...new Set(PARTIES.flatMap((party) => party.sides.map((side) => side.name)))];

/** Names of the fields that are summed. */
export const MEASURES = FIELDS.filter((field) => field.role === "measure").map((field) => field.name);

/** Names of the fields that are positions on the earth. */
export const POSITIONS = FIELDS.filter((field) => field.kind === "position").map((field) => field.name);

/** The fields that rules run by. */
export const ANCHORS = declared.anchors;

/** The field that rules run by first. */
export const FIRST_KEY = declared.anchors[0];

/** Rules to begin with: `{templateId, title, explanation, definition, catalogue}`. */
export const TEMPLATES = declared.templates;

const BY_NAME = new Map(FIELDS.map((field) => [field.name, field]));
export const IDENTITY = FIELDS.find((field) => field.role === "id").name;
const TIME = FIELDS.find((field) => field.role === "time" && !field.ingestion).name;

/** The field of that name; undefined where the type has none. */
export function fieldOf(name) {
  return BY_NAME.get(name);
}

/** The field that one groups by; of a party that of its first side, which has values of the same kind. */
export function groupingOf(name) {
  return fieldOf(name) ?? fieldOf(sidesOf(name)[0]);
}

/** The id of a transaction as an alert shows it. */
export function identityOf(transaction) {
  return transaction[IDENTITY];
}

/** When it happened, in ms, as an alert shows it. */
export function timeOf(transaction) {
  return transaction[TIME];
}

/** "orders" → "Orders" */
export function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}
