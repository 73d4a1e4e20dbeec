// A mapping file of what was chosen. Its reader takes texts in double quotes as JSON has them.

const REFUSED = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** In double quotes, on one line. */
export function quoted(text) {
  const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(REFUSED, escaped);
}

/** Ways to write numbers: what a mapping says of them, and an example. */
export const NUMBERS = [
  { shown: "1234.5", decimalComma: false, thousands: null },
  { shown: "1,234.5", decimalComma: false, thousands: "," },
  { shown: "1234,5", decimalComma: true, thousands: null },
  { shown: "1.234,5", decimalComma: true, thousands: "." },
  { shown: "1'234.5", decimalComma: false, thousands: "'" },
  { shown: "1 234.5", decimalComma: false, thousands: " " },
  { shown: "1 234,5", decimalComma: true, thousands: " " },
];

/**
 * The text of the file. `chosen` has `timeZone`, `numbers` of the above or null, `nulls`, and `fields`, each `{name, source,
 * form, values}` as a field's choice reads itself.
 */
export function mappingText(name, proposal, { timeZone, numbers, nulls, fields }) {
  const said = fields.filter((field) => field.source !== null);
  return [
    `# Of ${name.replace(/[^\x20-\x7e\u00a0-\u024f]/g, "?")}`,
    ...formatLines(proposal),
    nulls.length && `nulls: [${nulls.map(quoted).join(", ")}]`,
    timeZone && `timeZone: ${quoted(timeZone)}`,
    numbers?.decimalComma && "decimalComma: true",
    numbers?.thousands && `thousands: ${quoted(numbers.thousands)}`,
    said.length ? "fields:" : "fields: {}",
    ...said.flatMap(fieldLines),
  ].filter(Boolean).join("\n") + "\n";
}

function formatLines({ format, hasHeader, byPosition, skippedLines, encoding }) {
  return [
    format === "csv" && skippedLines && `skipLines: ${skippedLines}`,
    format === "csv" && !hasHeader && "header: false",
    format === "csv" && hasHeader && byPosition && "header: true",
    encoding !== "utf-8" && `encoding: ${encoding}`,
  ];
}

function fieldLines({ name, source, form, values }) {
  const entries = [source, form && `form: ${form}`].filter(Boolean);
  const translated = Object.entries(values ?? {}).filter(([, means]) => means);
  if (!translated.length) return [`  ${name}: {${entries.join(", ")}}`];
  return [
    `  ${name}:`,
    ...entries.map((entry) => `    ${entry}`),
    "    values:",
    ...translated.map(([said, means]) => `      ${quoted(said)}: ${quoted(means)}`),
  ];
}
