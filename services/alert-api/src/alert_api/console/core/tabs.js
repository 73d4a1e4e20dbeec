// The row of views at the top. Where it is too narrow for all of them it is scrolled: the chosen one is brought to
// its middle, and an end beyond which there is more fades out.

// Pages that have no tab of their own, and the one that they hang below.
const BELOW = { health: "live", webhooks: "cases" };

export class Tabs {
  constructor(nav) {
    this.nav = nav;
    nav.addEventListener("scroll", () => this.fade(), { passive: true });
    new ResizeObserver(() => this.reveal()).observe(nav);
  }

  /** Marks the tab of that view. */
  choose(view) {
    const tab = BELOW[view] ?? view;
    for (const link of this.nav.querySelectorAll("[data-view]")) {
      if (link.dataset.view === tab) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    this.reveal();
  }

  /** Scrolls the row alone: the page stays where it is. */
  reveal() {
    const { nav } = this;
    const chosen = nav.querySelector("[aria-current]");
    if (chosen) {
      nav.scrollLeft = chosen.offsetLeft - nav.offsetLeft - (nav.clientWidth - chosen.offsetWidth) / 2;
    }
    this.fade();
  }

  fade() {
    const { scrollLeft, scrollWidth, clientWidth, dataset } = this.nav;
    const ends = [scrollLeft > 1 && "start", scrollLeft < scrollWidth - clientWidth - 1 && "end"];
    dataset.more = ends.filter(Boolean).join(" ");
  }
}
