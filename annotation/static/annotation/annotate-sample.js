// One page to annotate: its frame, its attributes, what is said of them and what is drawn for them.
import { PageFrame } from "../clustering/js/page_frame.js";
import { Conflicts } from "./annotate-conflicts.js";
import { element } from "./annotate-elements.js";
import { NodeAtHand } from "./annotate-node.js";
import { Outline } from "./annotate-outline.js";
import { Proposals, asSaid, wordsOf } from "./annotate-proposals.js";

export class Sample {
  active = "";
  #listeners;
  #proposals = new Proposals();
  #conflicts = new Conflicts((gesture) => this.#make(gesture));
  #node;
  #comments = [];
  #runBegin = null;
  #isShown = false;
  #prepared = null;

  constructor(sample, listeners) {
    this.element = sample;
    this.#listeners = listeners;
    this.frame = new PageFrame(sample.querySelector("[data-page-frame] iframe, .sample-frame iframe"));
    this.#node = new NodeAtHand(sample, this.frame, listeners.say);
    this.frame.addEventListener("ready", () => this.#draw());
    this.frame.addEventListener("hover", ({ detail }) => this.#node.hover(detail));
    this.frame.addEventListener("take", ({ detail }) => this.#takeFrom(detail));
    this.frame.addEventListener("key", ({ detail }) => this.#listeners.onKey(detail));
    sample.addEventListener("click", (event) => this.#click(event));
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

  /** Whether anything is said of the page. */
  get hasSaid() {
    return this.#rows().some((row) => !row.classList.contains("is-open"));
  }

  get hasRecords() {
    return this.#row("")?.classList.contains("is-open") === false;
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

  // Life

  begin(attribute = "") {
    this.#isShown = true;
    this.prepare();
    const wanted = attribute && this.#row(attribute);
    const open = wanted || this.#rows().find((row) => row.classList.contains("is-open") && row.dataset.attribute);
    this.choose((open ?? this.#rows()[0])?.dataset.attribute ?? "", true);
    this.#showActive();
  }

  /** Load what is proposed, once; resolve when it is there. */
  prepare() {
    this.#prepared ??= Promise.all([
      this.#load(this.element.dataset.outline, (told) => (this.#node.outline = new Outline(told))),
      this.#suggest(),
      this.prefill(),
    ]).then(() => (this.element.dataset.prepared = ""));
    return this.#prepared;
  }

  async #suggest() {
    await this.#load(this.element.dataset.suggestions, (told) => {
      this.#proposals.takeFound(told);
      this.#showProposals();
      this.#showActive();
    });
  }

  async prefill() {
    await this.#load(this.element.dataset.prefill, (told) => {
      this.#proposals.takeRule(told);
      this.#showProposals();
    });
  }

  /** Load anew what is proposed, as when another page taught something. */
  async renew() {
    await Promise.all([this.#suggest(), this.prefill()]);
  }

  leave() {
    this.frame.close();
    this.element.remove();
  }

  async #load(url, use) {
    if (!url) return;
    try {
      const response = await fetch(url);
      if (response.ok) use(await response.json());
    } catch {
      // what is proposed may be missing: everything else goes on
    }
  }

  words() {
    const rows = this.#rows().filter((row) => row.dataset.attribute);
    return `${rows.filter((row) => row.classList.contains("is-open")).length} of ${rows.length} attributes open.`;
  }

  // Attributes

  #rows() {
    return [...this.element.querySelectorAll("[data-attribute]")];
  }

  #row(name) {
    return this.#rows().find((row) => row.dataset.attribute === name);
  }

  choose(name, isQuiet = false) {
    this.active = name;
    for (const row of this.#rows()) {
      const isActive = row.dataset.attribute === name;
      row.classList.toggle("is-active", isActive);
      row.querySelector("[data-chooses]").setAttribute("aria-pressed", isActive);
    }
    this.#row(name)?.scrollIntoView({ block: "nearest" });
    this.#showProposals();
    if (isQuiet) return;
    this.#listeners.say(`${this.#row(name)?.dataset.title}: ${this.#sayRow(name)}`);
    this.#showActive();
  }

  /** Scroll the page to the value of the chosen attribute, or else to the first value that it has. */
  #showActive() {
    if (!this.#isShown || this.#node.selected !== null) return;
    const names = [this.active, ...this.#rows().map((row) => row.dataset.attribute)];
    const number = names.map((name) => this.#numberOf(name)).find((one) => one !== null);
    if (number !== undefined) this.frame.show(number);
  }

  move(by) {
    const names = this.#rows().map((row) => row.dataset.attribute);
    const at = names.indexOf(this.active);
    this.choose(names[Math.min(names.length - 1, Math.max(0, at + by))]);
  }

  #numberOf(name) {
    const marks = JSON.parse(this.#row(name)?.dataset.marks || "[]");
    return marks[0]?.number ?? (name ? this.#proposals.best(name)?.marks?.[0]?.number : null) ?? null;
  }

  #sayRow(name) {
    const row = this.#row(name);
    const best = this.#proposals.best(name);
    if (!row) return "";
    if (row.classList.contains("is-open")) return best ? `proposed: ${wordsOf(best)}, ${best.source}` : "open";
    return row.querySelector(".said-values").textContent.trim().replace(/\s+/g, " ");
  }

  sayChanges(changes) {
    return changes.map(({ attribute }) => `${this.#row(attribute)?.dataset.title}: ${this.#sayRow(attribute)}`).join(". ");
  }

  // Proposals

  hasProposal(name) {
    return this.#proposals.best(name) !== undefined;
  }

  /** What is accepted with the page: the best proposal of each open attribute, if it is sure enough. */
  proposed() {
    const sure = this.#openNames().filter((name) => this.#proposals.isSure(name));
    return sure.map((name) => asSaid(name, this.#proposals.best(name)));
  }

  #openNames() {
    return this.#rows().filter((row) => row.classList.contains("is-open")).map((row) => row.dataset.attribute);
  }

  #showProposals() {
    for (const row of this.#rows()) {
      const name = row.dataset.attribute;
      const slot = row.querySelector("[data-proposal]");
      const isOpen = row.classList.contains("is-open");
      if (isOpen) slot.replaceChildren(...this.#offered(name));
      else this.#compare(row, slot);
      slot.hidden = !slot.children.length;
      row.classList.toggle("is-proposed", isOpen && this.#proposals.isSure(name));
    }
    this.#count();
    this.#draw();
  }

  #offered(name) {
    const isActive = name === this.active;
    if (!name && !isActive && !this.#proposals.isSure(name)) return [];
    const all = this.#proposals.all(name).slice(0, isActive ? undefined : 1);
    return all.map((one, n) =>
      this.#proposals.button(name, one, n, isActive, () => {
        this.choose(name, true);
        this.takeProposal(n);
      }),
    );
  }

  /** Say whether the rule finds what a person took. */
  #compare(row, slot) {
    const differing = this.#proposals.compared(row);
    row.querySelector("[data-rule-agrees]").hidden = differing !== "";
    slot.replaceChildren(...(differing ? [element("span", "small text-warning", differing)] : []));
  }

  #count() {
    const open = this.#openNames().filter(Boolean);
    const sure = open.filter((name) => this.#proposals.isSure(name)).length;
    const words = [];
    if (sure) words.push(`${sure} proposed`);
    if (open.length - sure) words.push(`${open.length - sure} open`);
    this.element.querySelector("[data-count]").textContent = words.join(" · ") || "all said";
  }

  // Marks on the page

  /** Draw what people say about places of the page. */
  showComments(comments) {
    this.#comments = comments;
    this.#draw();
  }

  showPlace(number) {
    this.#node.select(number);
  }

  #draw() {
    if (!this.#isShown) return;
    const marks = this.#rows().flatMap((row) => {
      const name = row.dataset.attribute;
      const said = JSON.parse(row.dataset.marks || "[]");
      if (said.length || !row.classList.contains("is-open")) return said;
      const isDrawn = name === this.active || (name && this.#proposals.isSure(name));
      return isDrawn ? this.#proposals.marks(name, row.dataset.title) : [];
    });
    for (const { number, id } of this.#comments) marks.push({ id: `comment/${id}`, kind: "comment", number, text: null, label: "comment" });
    if (this.#runBegin !== null) marks.push({ id: "begin", kind: "suggested", number: this.#runBegin, text: null, label: "begins here" });
    this.frame.mark(marks);
  }

  // Gestures

  #make(gesture) {
    return this.#listeners.onGesture(gesture);
  }

  /** Add what only holds when the gesture is sent: the revisions that are shown. */
  complete(gesture) {
    const revision = (name) => Number(this.#row(name)?.dataset.revision ?? 0);
    const told = { ...gesture };
    if ("attribute" in told) told.revision ??= revision(told.attribute);
    if (told.said) told.said = told.said.map((one) => ({ revision: revision(one.attribute), ...one }));
    return told;
  }

  /** Show what a gesture came to. */
  take(answer, gesture) {
    this.#conflicts.take(gesture, answer);
    for (const [name, html] of Object.entries(answer.rows ?? {})) {
      const holder = document.createElement("template");
      holder.innerHTML = html;
      const before = this.#row(name);
      const hadFocus = before?.contains(document.activeElement);
      before?.replaceWith(holder.content.firstElementChild);
      if (hadFocus) this.#row(name)?.querySelector("[data-chooses]").focus();
    }
    this.#conflicts.show((name) => this.#row(name));
    this.choose(this.active, true);
    if (answer.changes?.some(({ attribute }) => attribute === "")) this.#suggest(); // within the records now
  }

  #takeFrom({ number, shift, text }) {
    this.#node.select(number);
    this.#make({ gesture: "take", attribute: this.active, place: { number, text }, widens: shift && !text });
  }

  takeSelected() {
    const { number } = this.#node;
    if (number === null) return this.#listeners.say("Choose a node with the arrow keys first.");
    return this.#make({ gesture: "take", attribute: this.active, place: { number, text: null } });
  }

  takeProposal(n) {
    const proposal = this.#proposals.all(this.active)[n];
    if (!proposal) return this.#listeners.say("There is no such suggestion.");
    return this.#make({ gesture: "accept", said: [asSaid(this.active, proposal)] });
  }

  sayAbsent() {
    if (this.active) this.#make({ gesture: "absent", said: [{ attribute: this.active }] });
    else this.clear();
  }

  sayRestAbsent() {
    const open = this.#openNames().filter((name) => name && !this.#proposals.isSure(name));
    if (open.length) this.#make({ gesture: "absent", said: open.map((attribute) => ({ attribute })) });
  }

  clear() {
    this.#make({ gesture: "clear", attribute: this.active });
  }

  takeAlike() {
    if (this.active) this.#make({ gesture: "take_alike", attribute: this.active });
    else this.takeProposal(0);
  }

  beginRun() {
    this.#runBegin = this.#node.number;
    this.#draw();
    this.#listeners.say("The value begins here. Choose where it ends.");
  }

  finishRun() {
    const end = this.#node.number;
    if (this.#runBegin === null || end === null) return this.#listeners.say("Say first where the value begins.");
    const number = this.#runBegin;
    this.#runBegin = null;
    return this.#make({ gesture: "take_run", attribute: this.active, number, end_number: end });
  }

  step(direction) {
    this.#node.step(direction, this.#numberOf(this.active));
  }

  find(text, isNext) {
    this.#node.find(text, isNext);
  }

  openNode() {
    return this.#node.open();
  }

  showDone() {
    this.element.querySelector("[data-done]").hidden = false;
  }

  #click(event) {
    const at = (selector) => event.target.closest(selector);
    const row = at("[data-attribute]");
    if (at("[data-removes]")) {
      this.#make({ gesture: "remove", attribute: row.dataset.attribute, position: Number(at("[data-removes]").dataset.removes) });
    } else if (at("[data-chooses]")) {
      this.choose(row.dataset.attribute);
      if (event.detail) at("[data-chooses]").blur();
    } else if (at("[data-number]") && at("[data-path]")) {
      this.#pick(Number(at("[data-number]").dataset.number));
    } else if (at("[data-takes-value]")) {
      this.#takeValue(at("[data-takes-value]").dataset);
    } else if (at("[data-takes-selection]")) {
      this.#takeSelection();
    } else if (at("[data-head-values]")) {
      this.#node.load("");
    }
  }

  /** Take an ancestor from the path; an attribute with several values gets it by a further key. */
  #pick(number) {
    this.#node.select(number);
    if (!this.#row(this.active)?.dataset.multi) this.takeSelected();
  }

  #takeValue({ xpath, start, end, text }) {
    const whole = start === undefined ? {} : { start: Number(start), end: Number(end) };
    const adds = Boolean(this.#row(this.active)?.dataset.multi);
    const mark = { xpath, text: start === undefined ? "" : text, ...whole };
    this.#make({ gesture: "accept", said: [{ attribute: this.active, marks: [mark], by_hand: true, adds }] });
  }

  #takeSelection() {
    const part = this.#node.selection();
    if (!part) return this.#listeners.say("Select a part of the text first.");
    return this.#make({ gesture: "take_text", attribute: this.active, ...part });
  }
}
