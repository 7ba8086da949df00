// One page to annotate: its frame, its attributes, what is proposed for them, and the node at hand.
import { PageFrame } from "../clustering/js/page_frame.js";
import { Outline } from "./annotate-outline.js";

const SURE = 0.5; // a proposal of this confidence is accepted with the page
const REST = 150; // milliseconds on a node before what it holds is loaded
const SAME = 150; // characters in which two values are compared

export class Sample {
  active = "";
  #listeners;
  #proposals = new Map();
  #rule = new Map();
  #conflicts = new Map(); // by attribute: the gesture that came too late
  #outline = null;
  #selected = null;
  #hovered = null;
  #runBegin = null;
  #isShown = false;
  #prepared = null;
  #timer = 0;

  constructor(element, listeners) {
    this.element = element;
    this.#listeners = listeners;
    this.frame = new PageFrame(element.querySelector("[data-page-frame] iframe, .sample-frame iframe"));
    this.frame.addEventListener("ready", () => this.#draw());
    this.frame.addEventListener("hover", ({ detail }) => this.#hover(detail));
    this.frame.addEventListener("take", ({ detail }) => this.#takeFrom(detail));
    this.frame.addEventListener("key", ({ detail }) => this.#listeners.onKey(detail));
    element.addEventListener("click", (event) => this.#click(event));
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
      this.#load(this.element.dataset.outline, (told) => (this.#outline = new Outline(told))),
      this.#load(this.element.dataset.suggestions, (told) => {
        this.#proposals = new Map(Object.entries(told));
        this.#showProposals();
        this.#showActive();
      }),
      this.prefill(),
    ]);
    return this.#prepared;
  }

  async prefill() {
    await this.#load(this.element.dataset.prefill, ({ rule, attributes }) => {
      this.#rule = new Map(Object.entries(rule ? attributes : {}));
      this.#showProposals();
    });
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
    this.#draw();
    if (isQuiet) return;
    this.#listeners.say(`${this.#row(name)?.dataset.title}: ${this.#sayRow(name)}`);
    this.#showActive();
  }

  /** Scroll the page to the value of the chosen attribute. */
  #showActive() {
    const number = this.#numberOf(this.active);
    if (this.#isShown && number !== null && this.#selected === null) this.frame.show(number);
  }

  move(by) {
    const names = this.#rows().map((row) => row.dataset.attribute);
    const at = names.indexOf(this.active);
    this.choose(names[Math.min(names.length - 1, Math.max(0, at + by))]);
  }

  #numberOf(name) {
    const marks = JSON.parse(this.#row(name)?.dataset.marks || "[]");
    return marks[0]?.number ?? this.#best(name)?.marks?.[0]?.number ?? null;
  }

  #sayRow(name) {
    const row = this.#row(name);
    const best = this.#best(name);
    if (!row) return "";
    if (row.classList.contains("is-open")) return best ? `proposed: ${wordsOf(best)}, ${best.source}` : "open";
    return row.querySelector(".said-values").textContent.trim().replace(/\s+/g, " ");
  }

  sayChanges(changes) {
    return changes.map(({ attribute }) => `${this.#row(attribute)?.dataset.title}: ${this.#sayRow(attribute)}`).join(". ");
  }

  hasProposal(name) {
    return this.#best(name) !== undefined;
  }

  // Proposals: the rule's first, then what is found on the page

  #all(name) {
    const found = (this.#proposals.get(name) ?? []).slice(0, 3);
    const rule = this.#rule.get(name);
    return rule && (rule.absent || rule.marks?.length) ? [{ ...rule, source: "rule" }, ...found].slice(0, 3) : found;
  }

  #best(name) {
    return this.#all(name)[0];
  }

  #isSure(name) {
    const best = this.#best(name);
    return best !== undefined && best.confidence >= SURE;
  }

  /** What is accepted with the page: the best proposal of each open attribute, if it is sure enough. */
  proposed() {
    return this.#openNames()
      .filter((name) => this.#isSure(name))
      .map((name) => this.#asSaid(name, this.#best(name)));
  }

  #openNames() {
    return this.#rows().filter((row) => row.classList.contains("is-open")).map((row) => row.dataset.attribute);
  }

  #asSaid(name, { marks = [], absent = false, source }) {
    const kept = marks.map(({ xpath, end_xpath, start, end, text }) => ({ xpath, end_xpath, start, end, text }));
    return { attribute: name, marks: name ? kept : [], absent: absent === true, source };
  }

  #showProposals() {
    for (const row of this.#rows()) {
      const name = row.dataset.attribute;
      const slot = row.querySelector("[data-proposal]");
      const isOpen = row.classList.contains("is-open");
      const isOffered = isOpen && (name || name === this.active || this.#isSure(name));
      const all = isOffered ? this.#all(name) : [];
      const shown = name === this.active ? all : all.slice(0, 1);
      slot.replaceChildren(...shown.map((one, n) => this.#proposal(name, one, n)));
      if (!isOpen) slot.replaceChildren(...this.#compared(row));
      slot.hidden = !slot.children.length;
      row.classList.toggle("is-proposed", isOpen && this.#isSure(name));
    }
    this.#count();
    this.#draw();
  }

  #proposal(name, proposal, n) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "proposal";
    button.title = proposal.why ?? "";
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      this.choose(name, true);
      this.takeProposal(n);
    });
    if (name === this.active) button.append(element("kbd", "", String(n + 1)));
    button.append(element("span", "said-text", wordsOf(proposal)));
    const source = name ? `${proposal.source} ${Math.round(100 * proposal.confidence)} %` : proposal.source;
    button.append(element("span", "proposal-source small muted", source));
    if (n === 0 && this.#isSure(name)) button.append(element("span", "proposal-sure", "⏎"));
    return button;
  }

  /** Say whether the rule finds what a person took. */
  #compared(row) {
    const rule = this.#rule.get(row.dataset.attribute);
    if (!rule) return [];
    const values = [...row.querySelectorAll(".said-value .said-text")].map((one) => one.textContent.slice(0, SAME));
    const found = (rule.marks ?? []).map(({ text }) => String(text ?? "").slice(0, SAME));
    const isSame = rule.absent ? !values.length : values.every((value) => found.includes(value)) && found.length >= values.length;
    if (isSame) return [element("span", "small text-good", "✓ rule")];
    return [element("span", "small text-warning", `rule finds ${rule.absent ? "nothing" : `“${found[0] ?? ""}”`}`)];
  }

  #count() {
    const open = this.#openNames().filter(Boolean);
    const sure = open.filter((name) => this.#isSure(name)).length;
    const words = [];
    if (sure) words.push(`${sure} proposed`);
    if (open.length - sure) words.push(`${open.length - sure} open`);
    this.element.querySelector("[data-count]").textContent = words.join(" · ") || "all said";
  }

  // Marks on the page

  #draw() {
    if (!this.#isShown) return;
    const marks = this.#rows().flatMap((row) => {
      const name = row.dataset.attribute;
      const said = JSON.parse(row.dataset.marks || "[]");
      if (said.length || !row.classList.contains("is-open")) return said;
      const best = this.#best(name);
      const isDrawn = best && (name ? this.#isSure(name) || name === this.active : name === this.active);
      return isDrawn ? (best.marks ?? []).filter((mark) => Number.isInteger(mark.number)).map((mark, n) => ({
        id: `${name}?${n}`,
        kind: "suggested",
        number: mark.number,
        endNumber: mark.endNumber,
        text: Array.isArray(mark.drawn) ? mark.drawn : null,
        label: `${row.dataset.title}?`,
      })) : [];
    });
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
  take({ rows = {}, conflicts = [], changes = [] }, gesture) {
    for (const { attribute } of changes) this.#conflicts.delete(attribute);
    for (const { attribute, text } of conflicts) {
      if (gesture) this.#conflicts.set(attribute, { gesture: partOf(gesture, attribute), text });
    }
    for (const [name, html] of Object.entries(rows)) {
      const holder = document.createElement("template");
      holder.innerHTML = html;
      const before = this.#row(name);
      const hadFocus = before?.contains(document.activeElement);
      before?.replaceWith(holder.content.firstElementChild);
      if (hadFocus) this.#row(name)?.querySelector("[data-chooses]").focus();
    }
    this.#showConflicts();
    this.choose(this.active, true);
  }

  #showConflicts() {
    for (const [name, { gesture, text }] of this.#conflicts) {
      const row = this.#row(name);
      const slot = row?.querySelector("[data-conflict]");
      if (!slot) continue;
      const buttons = [
        ["Keep theirs", () => this.#settle(name, null)],
        ["Take mine", () => this.#settle(name, gesture)],
      ];
      if (row.dataset.multi && gesture.gesture === "accept") buttons.push(["Keep both", () => this.#settle(name, withAdds(gesture))]);
      slot.replaceChildren(element("span", "small", text), ...buttons.map(([words, act]) => {
        const button = element("button", "button button-small", words);
        button.type = "button";
        button.addEventListener("click", act);
        return button;
      }));
      slot.hidden = false;
      row.classList.add("is-conflict");
    }
  }

  #settle(name, gesture) {
    this.#conflicts.delete(name);
    const row = this.#row(name);
    row.classList.remove("is-conflict");
    const slot = row.querySelector("[data-conflict]");
    slot.hidden = true;
    slot.replaceChildren();
    if (gesture) this.#make(withoutRevision(gesture));
  }

  #takeFrom({ number, shift, text }) {
    this.#setSelected(number);
    this.#make({ gesture: "take", attribute: this.active, place: { number, text }, widens: shift && !text });
  }

  takeSelected() {
    const number = this.#selected ?? this.#hovered;
    if (number === null) return this.#listeners.say("Choose a node with the arrow keys first.");
    return this.#make({ gesture: "take", attribute: this.active, place: { number, text: null } });
  }

  takeProposal(n) {
    const proposal = this.#all(this.active)[n];
    if (!proposal) return this.#listeners.say("There is no such suggestion.");
    return this.#make({ gesture: "accept", said: [this.#asSaid(this.active, proposal)] });
  }

  sayAbsent() {
    if (this.active) this.#make({ gesture: "absent", said: [{ attribute: this.active }] });
    else this.clear();
  }

  sayRestAbsent() {
    const said = this.#openNames().filter((name) => name && !this.#isSure(name)).map((attribute) => ({ attribute }));
    if (said.length) this.#make({ gesture: "absent", said });
  }

  clear() {
    this.#make({ gesture: "clear", attribute: this.active });
  }

  takeAlike() {
    if (this.active) this.#make({ gesture: "take_alike", attribute: this.active });
    else this.takeProposal(0);
  }

  beginRun() {
    this.#runBegin = this.#selected ?? this.#hovered;
    this.#draw();
    this.#listeners.say("The value begins here. Choose where it ends.");
  }

  finishRun() {
    const end = this.#selected ?? this.#hovered;
    if (this.#runBegin === null || end === null) return this.#listeners.say("Say first where the value begins.");
    const number = this.#runBegin;
    this.#runBegin = null;
    return this.#make({ gesture: "take_run", attribute: this.active, number, end_number: end });
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
      this.#loadNode("");
    }
  }

  /** Take an ancestor from the path; an attribute with several values gets it by a further key. */
  #pick(number) {
    this.#setSelected(number);
    if (!this.#row(this.active)?.dataset.multi) this.takeSelected();
  }

  #takeValue({ xpath, start, end, text }) {
    const whole = start === undefined ? {} : { start: Number(start), end: Number(end) };
    const adds = Boolean(this.#row(this.active)?.dataset.multi);
    const mark = { xpath, text: start === undefined ? "" : text, ...whole };
    this.#make({ gesture: "accept", said: [{ attribute: this.active, marks: [mark], by_hand: true, adds }] });
  }

  #takeSelection() {
    const field = this.element.querySelector("[data-node-text]");
    const points = (units) => Array.from(field.value.slice(0, units)).length;
    const [start, end] = [points(field.selectionStart), points(field.selectionEnd)];
    if (start === end) return this.#listeners.say("Select a part of the text first.");
    return this.#make({ gesture: "take_text", attribute: this.active, number: Number(field.dataset.number), start, end });
  }

  // The node at hand

  #hover({ number, path, quote }) {
    if (number === null) {
      this.#hovered = null;
      return;
    }
    this.#hovered = number;
    this.#showPath(path, quote);
  }

  step(direction) {
    if (!this.#outline) return;
    const from = this.#selected ?? this.#hovered ?? this.#numberOf(this.active);
    const to = from === null ? this.#outline.first() : this.#outline.step(from, direction);
    if (to !== null) this.#setSelected(to);
  }

  find(text, isNext) {
    const found = this.#outline?.find(text, isNext ? this.#selected : null);
    if (found === null || found === undefined) {
      if (text) this.#listeners.say(`Nothing on the page contains “${text}”.`);
      return;
    }
    this.#setSelected(found);
  }

  #setSelected(number) {
    this.#selected = number;
    this.frame.select(number);
    if (this.#outline) {
      const path = this.#outline.path(number);
      this.#showPath(path, this.#outline.text(number));
      this.#listeners.say(`${path.at(-1).name} ${this.#outline.text(number)}`);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#loadNode(number), REST);
  }

  #showPath(path, quote) {
    const list = this.element.querySelector("[data-path]");
    list.replaceChildren(
      ...path.map(({ number, name }, n) => {
        const item = document.createElement("li");
        const button = element("button", "path-step", name);
        button.type = "button";
        button.dataset.number = number;
        if (n === path.length - 1) button.setAttribute("aria-current", "true");
        item.append(button);
        return item;
      }),
      element("li", "path-quote small muted", quote),
    );
    list.scrollLeft = list.scrollWidth;
  }

  async #loadNode(number) {
    const panel = this.element.querySelector("[data-node-panel]");
    try {
      const response = await fetch(`${this.element.dataset.node}?number=${number}`);
      if (response.ok && (number === "" || number === this.#selected)) panel.innerHTML = await response.text();
    } catch {
      // the values of a node are shown as soon as the server answers again
    }
  }

  async openNode() {
    await this.#loadNode(this.#selected ?? "");
    this.element.querySelector("[data-node-values] button")?.focus();
  }
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

function wordsOf({ marks = [], absent = false }) {
  if (absent || !marks.length) return "not on this page";
  const texts = marks.map(({ text }) => text).filter(Boolean);
  if (!texts.length) return `${marks.length} records`;
  return texts.length > 3 ? `${texts.slice(0, 3).join(", ")} and ${texts.length - 3} more` : texts.join(", ");
}

const partOf = (gesture, attribute) =>
  gesture.said ? { ...gesture, said: gesture.said.filter((one) => one.attribute === attribute) } : gesture;

function withoutRevision({ revision: _, ...gesture }) {
  return gesture.said ? { ...gesture, said: gesture.said.map(({ revision: __, ...one }) => one) } : gesture;
}

const withAdds = (gesture) => ({ ...gesture, said: gesture.said.map((one) => ({ ...one, adds: true })) });
