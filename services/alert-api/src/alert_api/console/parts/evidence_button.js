// The button that draws evidence: a signed zip that can be checked without this service.

import { button } from "../core/dom.js";
import { save } from "../core/download.js";

const TIMEOUT_MS = 180_000;

/** `kind` is alert or case; `tell(text)` says how it goes, with an empty text once it is saved. */
export function evidenceButton(kind, id, tell) {
  const draw = button("Download evidence", async () => {
    draw.disabled = true;
    tell("Drawing the evidence\u2026");
    const options = { method: "POST", timeout: TIMEOUT_MS };
    try {
      await save(`/v1/${kind}s/${id}/evidence`, `evidence-${kind}-${id}.zip`, options);
      tell("");
    } catch (error) {
      tell(`There is no evidence: ${error.message}`);
    } finally {
      draw.disabled = false;
    }
  }, { id: `evidence-of-${kind}` });
  return draw;
}
