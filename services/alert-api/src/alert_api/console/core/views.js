// The views of the console, each fetched and made when it is first wanted: a page waits for what it shows.

export class Views {
  /** `makers`: by the view's name, a function that promises it. */
  constructor(makers) {
    this.makers = makers;
    this.made = new Map();
    this.coming = new Map();
  }

  /** Calls `act(view)`, at once where it is made, or `failed()`: what could not be had, a new page may have. */
  use(name, act, failed = () => {}) {
    if (this.made.has(name)) return act(this.made.get(name));
    if (!this.coming.has(name)) this.coming.set(name, this.make(name));
    return this.coming.get(name).then(act, failed);
  }

  async make(name) {
    const view = await this.makers[name]();
    this.made.set(name, view);
    return view;
  }

  /** Each view that is made does that, where it can. */
  tell(act, ...given) {
    for (const view of this.made.values()) view[act]?.(...given);
  }
}
