// A tree of JSON that a form can show while it is simple, and a text field otherwise: what the two ways have
// in common.

import { button, element } from "../core/dom.js";

export class TreeForm {
  /**
   * A subclass has `read()`, `write(tree)`, and builds `byForm` and `byText`, of which one is shown. `what`
   * begins the sentence
   * about text that is no JSON, `words` are what the button says beside the form and beside the text,
   * `fits(tree)` tells
   * whether the form has a place for all of it.
   */
  constructor({ id, rows, what, words, fits }) {
    Object.assign(this, { what, words, fits });
    this.text = element("textarea", { rows, class: "mono", spellcheck: "false", id });
    this.swap = button(words[0], () => this.turn());
  }

  show(json) {
    this.json = json;
    this.byForm.hidden = json;
    this.byText.hidden = !json;
    this.swap.textContent = this.words[json ? 1 : 0];
  }

  turn() {
    let tree = null;
    try {
      tree = this.read();
    } catch {
      /* what cannot be read stays where it is */
      return;
    }
    if (!this.json) {
      this.text.value = tree === null ? "" : JSON.stringify(tree, null, 2);
      this.show(true);
    } else if (this.fits(tree)) {
      this.write(tree);
    }
  }

  /** What the text says. Throws a sentence where it is no JSON. */
  readText() {
    try {
      return JSON.parse(this.text.value);
    } catch (error) {
      throw new Error(`${this.what} not JSON: ${error.message}`);
    }
  }
}
