// All versions of a rule, newest first: who, when, why, what each changed, and the way back to it.

import { registry, session } from "../core/client.js";
import { button, element } from "../core/dom.js";
import { RuleCompare } from "./rule_compare.js";
import { versionEntry } from "./version_entry.js";
import { revertRule } from "../rules/rule_acts.js";

const PAGE = 20;

export class RuleHistory {
  /** `onDone()` is called after a version was gone back to. */
  constructor(ruleId, onDone) {
    Object.assign(this, { ruleId, onDone, rule: null, shown: null, next: null, wanted: null });
    this.versions = new Map();
    this.approvers = new Map();
    this.compare = new RuleCompare(ruleId);
    this.error = element("p", { class: "error", role: "alert" });
    this.list = element("ol", { class: "versions", "aria-label": "Versions, newest first" });
    this.older = button("Show older versions", () => this.readOlder());
    this.older.hidden = true;
    this.element = element(
      "section",
      { class: "rule-history", hidden: true },
      element("h2", {}, "History"),
      this.compare.element,
      this.error,
      this.list,
      this.older,
    );
  }

  /** The two versions that the address compares, and the one that it points at. */
  choose(query) {
    this.wanted = Number(query.get("version")) || null;
    this.compare.choose(query);
    if (this.rule && this.wanted && !this.versions.has(this.wanted)) this.read();
    this.render();
  }

  take({ rule, changes, fourEyes }) {
    Object.assign(this, { rule, fourEyes });
    this.element.hidden = rule === null;
    if (rule === null) return;
    this.approvers = new Map(
      changes.filter((change) => change.position).map((change) => [
        change.position,
        change.breakGlass ? null : change.decidedBy,
      ]),
    );
    if (rule.versions) {
      this.next = null;
      this.keep(rule.versions);
    } else if (!this.versions.has(rule.version)) this.read();
    this.render();
  }

  /** The newest ones. Where more than a page came at once the older ones are behind the button again. */
  async read(address = `/rules/${this.ruleId}/versions?order=newest&limit=${PAGE}`) {
    const isFirst = this.versions.size === 0 || address === this.next;
    this.older.disabled = true;
    try {
      const { body, next } = await registry(address);
      const meets = body.items.some(({ version }) => this.versions.has(version));
      if (isFirst || !meets) {
        this.next = next && `/rules/${this.ruleId}/versions${new URL(next, location.origin).search}`;
      }
      this.keep(body.items);
      if (this.wanted && !this.versions.has(this.wanted)) await this.readWanted();
      this.error.textContent = "";
    } catch (error) {
      this.error.textContent = `The history cannot be read now: ${error.message}`;
    } finally {
      this.older.disabled = false;
    }
    this.render();
  }

  readOlder() {
    return this.read(this.next);
  }

  /** An alert may point at a version that is far back. */
  async readWanted() {
    if (this.wanted > this.rule.version) return;
    this.keep([(await registry(`/rules/${this.ruleId}/versions/${this.wanted}`)).body]);
  }

  keep(versions) {
    // What the log has of a retired rule says less than what was read before.
    for (const fresh of versions) {
      this.versions.set(fresh.version, { ...this.versions.get(fresh.version), ...fresh });
    }
    this.compare.take(this.versions, Boolean(this.rule?.versions));
  }

  render() {
    this.older.hidden = this.next === null;
    if (this.rule === null) return;
    const { rule, wanted } = this;
    const newestFirst = [...this.versions.values()].sort((a, b) => b.version - a.version);
    const shown = JSON.stringify([
      newestFirst.map(({ version }) => version),
      rule.version,
      rule.status?.appliedVersion,
      [...this.approvers],
      wanted,
    ]);
    if (shown === this.shown) return;
    this.shown = shown;
    this.list.replaceChildren(...newestFirst.map((version) =>
      versionEntry(version, {
        before: this.versions.get(version.version - 1) ?? null,
        applied: rule.status?.appliedVersion === version.version,
        approver: this.approvers.get(version.position) ?? null,
        isAlone: this.approvers.get(version.position) === null,
        isWanted: version.version === wanted,
        revert: this.revertButton(version),
      })
    ));
    const pointed = this.list.querySelector("[aria-current]");
    if (pointed && this.seen !== wanted) {
      this.seen = wanted;
      pointed.scrollIntoView({ block: "center" });
    }
  }

  /** Only where it would change something, and not beside a shadow: the rule takes no definition then. */
  revertButton(version) {
    const { rule, onDone } = this;
    const isSame = version.definitionHash === rule.definitionHash && version.name === rule.name;
    if (isSame || rule.shadow || rule.versions || !session.may("rules:write")) return null;
    return button("Revert to this", () => revertRule(this.rule, version, onDone, this.fourEyes), {
      "aria-label": `Revert to version ${version.version}`,
    });
  }
}
