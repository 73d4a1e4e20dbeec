// The traffic generator: on, off, how much, and frauds to play.

import { call, session } from "../core/client.js";
import { button, element, setText, toast } from "../core/dom.js";
import { capital, FIELDS, MANY } from "../core/event_type.js";
import { figure } from "../core/format.js";
import { feeds } from "../core/pipeline.js";

const ADDRESS = "/console/generator";
// A slider in steps that feel alike: from one a second to what one machine can send.
export const RATES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 3000, 5000, 10000, 20000];
const USUAL = 200;

export class Traffic {
  constructor() {
    this.wanted = USUAL;
    this.state = element("p", { class: "traffic-state" }, "Asking the generator\u2026");
    this.toggle = button("Start", () => this.send(this.rate > 0 ? 0 : this.wanted), {
      kind: "primary",
      id: "traffic-toggle",
    });
    this.slider = element("input", {
      type: "range",
      id: "traffic-rate",
      min: 0,
      max: RATES.length - 1,
      step: 1,
      value: RATES.indexOf(USUAL),
      on: { input: () => this.slide(), change: () => this.settle() },
    });
    this.output = element("output", { for: "traffic-rate", class: "traffic-rate" }, `${USUAL} a second`);
    this.scenarios = element("div", { class: "scenarios" });
    this.note = element("p", { class: "hint" });
    this.controls = element(
      "div",
      { class: "traffic-controls" },
      element(
        "div",
        { class: "traffic-row" },
        this.toggle,
        element(
          "label",
          { class: "traffic-slider", for: "traffic-rate" },
          element("span", { class: "unseen" }, `${capital(MANY)} a second`),
          this.slider,
        ),
        this.output,
      ),
      element("h3", {}, "Play a fraud"),
      this.scenarios,
    );
    this.element = element(
      "section",
      { class: "panel", "aria-label": "Traffic generator" },
      element("div", { class: "panel-head" }, element("h2", {}, "Traffic generator")),
      this.state,
      this.controls,
      this.note,
    );
    feeds.traffic.listen((feed) => this.take(feed));
  }

  async open() {
    if (!session.token) return;
    if (!session.may("traffic:read")) {
      this.controls.hidden = true;
      setText(this.state, "Your key may not look at the traffic.");
      return void setText(this.note, "");
    }
    if (this.known) return;
    this.known = true;
    try {
      const { body } = await call(`${ADDRESS}/scenarios`);
      this.none = body.items.length === 0;
      this.scenarios.replaceChildren(...body.items.map((scenario) => this.scenario(scenario)));
      this.allow();
    } catch {
      this.known = false;
    }
  }

  scenario(scenario) {
    const play = button("Play", () => this.play(scenario, play), { "aria-label": `Play: ${scenario.title}` });
    return element(
      "div",
      { class: "scenario" },
      element(
        "div",
        {},
        element("b", {}, scenario.title),
        element("p", { class: "muted small" }, scenario.description),
      ),
      play,
    );
  }

  async play(scenario, pressed) {
    pressed.disabled = true;
    try {
      const { body } = await call(`${ADDRESS}/scenarios/${scenario.name}/plays`, { method: "POST" });
      const who = FIELDS.filter(({ name }) => body[name]).map(({ name, label }) => `${label} ${body[name]}`)
        .join(", ");
      toast(
        `${scenario.title}: ${body.transactions} ${MANY} in ${
          Math.ceil(body.seconds)
        } s, ${who}. Watch the rules.`,
      );
    } catch (error) {
      toast(`Not played: ${error.message}`);
    } finally {
      this.allow();
    }
  }

  take(feed) {
    this.controls.hidden = feed.state === "absent" || this.none || !session.may("traffic:write");
    if (feed.state === "absent") return void setText(this.state, "No traffic generator is connected here.");
    if (feed.state === "away") return void setText(this.state, "The traffic generator does not answer.");
    if (feed.state !== "good") return;
    if (this.none) {
      return void setText(
        this.state,
        `There is no traffic of ${MANY} here: replay a recording, or send them one by one.`,
      );
    }
    const { rate, achievedRate } = feed.data;
    this.rate = rate;
    if (rate > 0) this.wanted = rate;
    setText(
      this.state,
      rate > 0 ? `Sends ${figure(achievedRate)} of ${figure(rate)} ${MANY} a second.` : "Sends nothing.",
    );
    setText(this.toggle, rate > 0 ? "Stop" : "Start");
    this.toggle.className = rate > 0 ? "quiet" : "primary";
    if (document.activeElement !== this.slider && rate > 0) {
      this.slider.value = nearest(rate);
      this.say(rate);
    }
    this.allow();
  }

  allow() {
    const isThere = feeds.traffic.state === "good";
    for (const control of this.element.querySelectorAll("button, input")) control.disabled = !isThere;
    setText(
      this.note,
      session.may("traffic:write") ? "" : "Your key may look at the traffic, but not change it.",
    );
  }

  slide() {
    this.wanted = RATES[this.slider.value];
    this.say(this.wanted);
  }

  /** The slider was let go: while traffic runs it takes effect at once. */
  settle() {
    this.slide();
    if (this.rate > 0) this.send(this.wanted);
  }

  say(rate) {
    setText(this.output, `${figure(rate)} a second`);
    this.slider.setAttribute("aria-valuetext", `${rate} ${MANY} a second`);
  }

  async send(rate) {
    try {
      await call(`${ADDRESS}/traffic`, { method: "PUT", body: { rate } });
      feeds.traffic.hurry();
    } catch (error) {
      toast(`The traffic stays as it was: ${error.message}`);
    }
  }
}

function nearest(rate) {
  const distance = (choice) => Math.abs(Math.log(choice / rate));
  return RATES.reduce((best, choice, index) => (distance(choice) < distance(RATES[best]) ? index : best), 0);
}
