// The file that a mapping is for: its first bytes, what was recognised in them, and what to do with the mapping.

import { element } from "../core/dom.js";
import { counted } from "../core/format.js";

/** So many bytes of a file are looked at: as much as the registry takes. */
export const HEAD_BYTES = 196_608;

const FORMATS = { csv: "CSV", "json-lines": "JSON lines", "json-array": "a JSON array" };
const DELIMITERS = { ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars" };
const PIECE = 32_768;

/** Its first bytes as the registry takes them. */
export async function headOf(file) {
  const bytes = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  let text = "";
  for (let start = 0; start < bytes.length; start += PIECE) {
    text += String.fromCharCode(...bytes.subarray(start, start + PIECE));
  }
  return { head: btoa(text), isWhole: file.size <= HEAD_BYTES };
}

/** "may.csv.gz: CSV in gzip, parted by commas; 200 rows were looked at." */
export function fileFacts(file, { format, packing, delimiter, hasHeader, skippedLines, encoding, rows }) {
  const parts = [
    `${FORMATS[format]}${packing ? ` in ${packing}` : ""}`,
    delimiter && `parted by ${DELIMITERS[delimiter]}`,
    format === "csv" && !hasHeader && "without a header",
    skippedLines > 0 && `after ${counted(skippedLines, "line")} of something else`,
    encoding !== "utf-8" && "in Latin-1, for it is no UTF-8",
  ].filter(Boolean);
  return `${file.name}: ${parts.join(", ")}; ${counted(rows, "row")} looked at.`;
}

/** The commands that take file and mapping. */
export function goingOn(file, mapping) {
  const [path, how] = [word(file), word(mapping)];
  return element(
    "dl",
    { class: "mapping-commands" },
    element("dt", {}, "Try a rule over it, where the engine is installed"),
    element("dd", {}, command(`tripline-engine backtest rule.yaml --files ${path} --mapping ${how}`)),
    element("dt", {}, "Play it into the pipeline, where the generator is"),
    element("dd", {}, command(`tripline-generator replay ${path} --mapping ${how} --speed max --new-ids`)),
  );
}

function command(text) {
  return element(
    "pre",
    { class: "mapping-text", tabindex: 0, role: "region", "aria-label": "Command" },
    text,
  );
}

/** As a shell takes it. */
function word(text) {
  return /^[\w.,@%+=-][\w.,@%+=:/-]*$/.test(text) && !text.startsWith("-")
    ? text
    : `'./${text.replaceAll("'", "'\\''")}'`;
}
