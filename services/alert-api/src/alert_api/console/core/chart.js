// A line that moves: the last minutes of one figure, drawn as SVG.
//
//   oldest ─────────────────────────── now      x: time, the newest second at the right edge
//   a point each second, gaps joined            y: from 0 to a round number above the highest

import { drawing, element, setText } from "./dom.js";

const SPAN_MS = 120_000;
const WIDTH = 600;
const HEIGHT = 120;

/** The smallest of 1, 2, 5 times a power of ten that is not below `value`. */
export function roundAbove(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

export class MovingChart {
  /** `shown` makes a value a text; `kind` colours the line (see charts.css). */
  constructor(title, { kind, shown, note = "" }) {
    this.shown = shown;
    this.points = [];
    this.area = drawing("path", { class: "chart-area" });
    this.line = drawing("path", { class: "chart-line" });
    this.dots = drawing("g", { class: "chart-dots" });
    this.picture = drawing(
      "svg",
      {
        class: "chart-picture",
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: "none",
        "aria-hidden": "true",
      },
      [0.25, 0.5, 0.75].map((share) =>
        drawing("line", {
          class: "chart-grid",
          x1: 0,
          x2: WIDTH,
          y1: HEIGHT * share,
          y2: HEIGHT * share,
        })
      ),
      this.area,
      this.line,
      this.dots,
    );
    this.value = element("span", { class: "chart-value" }, "\u2013");
    this.top = element("span", { class: "chart-top" });
    this.note = element("p", { class: "chart-note muted small" }, note);
    this.element = element(
      "section",
      { class: `chart ${kind}`, "aria-label": title },
      element("div", { class: "chart-head" }, element("h2", {}, title), this.value),
      element("div", { class: "chart-frame" }, this.top, this.picture),
      element(
        "div",
        { class: "chart-foot muted small" },
        element("span", {}, "2 min ago"),
        this.note,
        element("span", {}, "now"),
      ),
    );
  }

  /** A new value at `at` (ms); null is no value. */
  add(time, value) {
    if (value !== null) this.points.push({ at: time, value });
    while (this.points.length && this.points[0].at < time - SPAN_MS - 5000) this.points.shift();
  }

  /** Says the figure itself, which may be another one than the last point. */
  say(text, note = null) {
    setText(this.value, text);
    if (note !== null) setText(this.note, note);
  }

  clear() {
    this.points = [];
    this.say("\u2013");
    this.draw(Date.now());
  }

  draw(now) {
    const highest = roundAbove(Math.max(0, ...this.points.map((point) => point.value)));
    const places = this.points.map(({ at: time, value }) => [
      WIDTH * (1 - (now - time) / SPAN_MS),
      HEIGHT * (1 - 0.94 * value / highest),
    ]);
    const path = places.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join(
      "",
    );
    this.line.setAttribute("d", path);
    this.area.setAttribute(
      "d",
      places.length
        ? `${path}L${places.at(-1)[0].toFixed(1)} ${HEIGHT}L${places[0][0].toFixed(1)} ${HEIGHT}Z`
        : "",
    );
    setText(this.top, this.points.length ? this.shown(highest) : "");
  }
}

/**
 * Draws all charts about ten times a second while they can be seen; once a second for who wants little
 * motion.
 */
export function keepDrawing(charts, isSeen) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const draw = () => {
    for (const chart of charts) chart.draw(Date.now());
  };
  // a page that asks for every frame is made anew sixty times a second, whether it draws or not
  const next = () => {
    if (isSeen()) requestAnimationFrame(draw);
    setTimeout(next, calm.matches ? 1000 : 100);
  };
  next();
}
