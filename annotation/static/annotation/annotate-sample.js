// One page to annotate: its frame, what is proposed for it and what is drawn for its attributes.
import { PageFrame } from "../clustering/js/page_frame.js";
import { Conflicts } from "./annotate-conflicts.js";
import { element } from "./annotate-elements.js";
import { Gestures } from "./annotate-gestures.js";
import { NodeAtHand } from "./annotate-node.js";
import { Outline } from "./annotate-outline.js";
import { Proposals, asAnnotation, wordsOf } from "./annotate-proposals.js";
import { Rows, isOpen, marksOf, wordsOfRow } from "./annotate-rows.js";

export class Sample {
  proposals = new Proposals();
  #listeners;
  #rows;
  #conflicts = new Conflicts((gesture) => this.make(gesture));
  #node;
  #comments = [];
  #isShown = false;
  #prepared = null;
  #outlined = null;
  #asked = new Map(); // by address: how often it was asked for; only the newest answer counts
  #unanswered = []; // attributes of gestures that are not saved yet

  constructor(sample, listeners) {
    this.element = sample;
    this.#listeners = listeners;
    this.#rows = new Rows(sample);
    this.frame = new PageFrame(sample.querySelector("[data-page-frame] iframe, .sample-frame iframe"));
    this.#node = new NodeAtHand(sample, this.frame, listeners.say);
    this.gestures = new Gestures(this, { rows: this.#rows, node: this.#node, say: listeners.say });
    this.frame.addEventListener("ready", () => this.draw());
    this.frame.addEventListener("hover", ({ detail }) => this.#node.hover(detail));
    this.frame.addEventListener("take", ({ detail }) => this.gestures.takeFrom(detail));
    this.frame.addEventListener("key", ({ detail }) => this.#listeners.onKey(detail));
  }

  get url() {
    return this.element.dataset.gestures;
  }

  get href() {
    return this.element.dataset.href;
  }

  get page() {
    return Number(this.element.dataset.page);
  }

  get title() {
    return this.element.dataset.title;
  }

  get active() {
    return this.#rows.active;
  }

  /** Whether what is proposed is there. */
  get isPrepared() {
    return "prepared" in this.element.dataset;
  }

  get isAnnotated() {
    return this.#rows.isAnnotated;
  }

  get hasRecords() {
    return this.#rows.hasRecords;
  }

  /** The samples to go on with, the next one first. */
  get nextAddresses() {
    return this.element.dataset.next.split(" ").filter(Boolean);
  }

  get before() {
    return this.element.dataset.before;
  }

  get after() {
    return this.element.dataset.after;
  }

  get comments() {
    return this.element.dataset.comments;
  }

  words() {
    return this.#rows.words();
  }

  // Life

  begin(attribute = "") {
    this.#isShown = true;
    this.prepare();
    this.choose(this.#rows.first(attribute), true);
    this.#showActive();
  }

  /** Load what is proposed, once; resolve when it is there. */
  prepare() {
    this.#prepared ??= Promise.all([
      this.#loadOutline(),
      this.#suggest(),
      this.prefill(),
    ]).then(() => (this.element.dataset.prepared = ""));
    return this.#prepared;
  }

  #loadOutline() {
    this.#outlined ??= this.#load(this.element.dataset.outline, (page) => (this.#node.outline = new Outline(page)));
    return this.#outlined;
  }

  async #suggest() {
    await this.#load(this.element.dataset.suggestions, (proposals) => {
      this.proposals.takeFound(proposals);
      this.#showProposals();
      this.#showActive();
    });
  }

  async prefill() {
    await this.#load(this.element.dataset.prefill, (proposals) => {
      this.proposals.takeRule(proposals);
      this.#showProposals();
    });
  }

  /** Load anew what the rule proposes, and what else is proposed where another page taught of records. */
  async renew({ isAll }) {
    if (!this.#prepared) return this.prepare();
    return Promise.all([isAll && this.#suggest(), this.prefill()]);
  }

  leave() {
    this.frame.close();
    this.element.remove();
  }

  async #load(url, use) {
    if (!url) return;
    const turn = (this.#asked.get(url) ?? 0) + 1;
    this.#asked.set(url, turn);
    try {
      const response = await fetch(url);
      const answer = response.ok ? await response.json() : null;
      if (answer && this.#asked.get(url) === turn) use(answer);
    } catch {
      // what is proposed may be missing: everything else goes on
    }
  }

  showDone() {
    this.element.querySelector("[data-done]").hidden = false;
  }

  // Attributes

  choose(name, isQuiet = false) {
    this.#rows.choose(name);
    this.#showProposals();
    if (isQuiet) return;
    this.#listeners.say(`${this.#rows.title(name)}: ${this.#sayRow(name)}`);
    this.#showActive();
  }

  move(by) {
    this.choose(this.#rows.beside(by));
  }

  /** Scroll the page to the value of the chosen attribute, or else to the first value that it has. */
  #showActive() {
    if (!this.#isShown || this.#node.selected !== null) return;
    const names = [this.active, ...this.#rows.names()];
    const number = names.map((name) => this.#numberOf(name)).find((one) => one !== null);
    if (number !== undefined) this.frame.show(number);
  }

  #numberOf(name) {
    const proposed = name ? this.proposals.best(name)?.marks?.[0]?.number : null;
    return marksOf(this.#rows.row(name))[0]?.number ?? proposed ?? null;
  }

  #sayRow(name) {
    const row = this.#rows.row(name);
    const best = this.proposals.best(name);
    if (!row) return "";
    if (isOpen(row)) return best ? `proposed: ${wordsOf(best)}, ${best.source}` : "open";
    return wordsOfRow(row);
  }

  sayChanges(changes) {
    return changes.map(({ attribute }) => `${this.#rows.title(attribute)}: ${this.#sayRow(attribute)}`).join(". ");
  }

  // Proposals

  hasProposal(name) {
    return this.proposals.best(name) !== undefined;
  }

  /** What is accepted with the page: the best proposal of each open attribute, if it is sure enough. */
  proposed() {
    // What somebody just said of an attribute counts, even if it is not saved yet.
    const open = this.#rows.openNames().filter((name) => !this.#unanswered.includes(name));
    const sure = open.filter((name) => this.proposals.isSure(name));
    return sure.map((name) => asAnnotation(name, this.proposals.best(name)));
  }

  #showProposals() {
    for (const row of this.#rows.all()) {
      const name = row.dataset.attribute;
      const slot = row.querySelector("[data-proposal]");
      if (isOpen(row)) slot.replaceChildren(...this.#offered(name));
      else this.#compare(row, slot);
      slot.hidden = !slot.children.length;
      row.classList.toggle("is-proposed", isOpen(row) && this.proposals.isSure(name));
    }
    this.#count();
    this.draw();
  }

  #offered(name) {
    const isActive = name === this.active;
    if (!name && !isActive && !this.proposals.isSure(name)) return [];
    const all = this.proposals.all(name).slice(0, isActive ? undefined : 1);
    return all.map((one, n) =>
      this.proposals.button(name, one, n, isActive, () => {
        this.choose(name, true);
        this.gestures.takeProposal(n);
      }),
    );
  }

  /** Say whether the rule finds what a person took. */
  #compare(row, slot) {
    const differing = this.proposals.compared(row);
    row.querySelector("[data-rule-agrees]").hidden = differing !== "";
    slot.replaceChildren(...(differing ? [element("span", "small text-warning", differing)] : []));
  }

  #count() {
    const open = this.#rows.openNames().filter(Boolean);
    const sure = open.filter((name) => this.proposals.isSure(name)).length;
    const words = [];
    if (sure) words.push(`${sure} proposed`);
    if (open.length - sure) words.push(`${open.length - sure} open`);
    this.element.querySelector("[data-count]").textContent = words.join(" · ") || "all said";
  }

  // On the page

  /** Draw at their places what people say of the page. */
  showComments(comments) {
    this.#comments = comments;
    this.draw();
  }

  showPlace(number) {
    this.#node.select(number);
  }

  async step(direction) {
    await this.#loadOutline();
    this.#node.step(direction, this.#numberOf(this.active));
  }

  async find(text, isNext) {
    await this.#loadOutline();
    this.#node.find(text, isNext);
  }

  openNode() {
    return this.#node.open();
  }

  draw() {
    if (!this.#isShown) return;
    const marks = this.#rows.all().flatMap((row) => {
      const name = row.dataset.attribute;
      const annotated = marksOf(row);
      if (annotated.length || !isOpen(row)) return annotated;
      const isDrawn = name === this.active || (name && this.proposals.isSure(name));
      return isDrawn ? this.proposals.marks(name, row.dataset.title) : [];
    });
    const { runBegin } = this.gestures;
    for (const { number, id } of this.#comments) marks.push({ id: `comment/${id}`, kind: "comment", number, text: null, label: "comment" });
    if (runBegin !== null) marks.push({ id: "begin", kind: "suggested", number: runBegin, text: null, label: "begins here" });
    this.frame.mark(marks);
  }

  // Gestures

  async make(gesture) {
    const names = attributesOf(gesture);
    this.#unanswered.push(...names);
    try {
      return await this.#listeners.onGesture(gesture);
    } finally {
      for (const name of names) this.#unanswered.splice(this.#unanswered.indexOf(name), 1);
    }
  }

  complete(gesture) {
    return this.gestures.complete(gesture);
  }

  /** Show what a gesture came to. */
  take(answer, gesture) {
    this.#conflicts.take(gesture, answer);
    this.#rows.replace(answer.rows ?? {});
    this.#conflicts.show((name) => this.#rows.row(name));
    this.choose(this.active, true);
    if (answer.changes?.some(({ attribute }) => attribute === "")) this.#suggest(); // within the records now
  }
}

const attributesOf = ({ attribute, annotations = [] }) =>
  [attribute, ...annotations.map((annotation) => annotation.attribute)].filter((name) => name !== undefined);
