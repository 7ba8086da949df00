// The stored page in its frame, as the page around it sees it. The frame may hold anything: only messages of
// this frame with the token of this load count, and numbers in them are checked.
//
//   const frame = new PageFrame(document.querySelector("[data-page-frame] iframe"));
//   frame.addEventListener("take", ({ detail }) => …);
//   frame.mark([{ id: "name", kind: "value", number: 12, text: [0, 3, 9], label: "name" }]);
//
// Events: ready {elements, title}, hover {number, path, quote}, take {number, shift, text}, key {key, shift,
// ctrl, alt, meta}, scroll {top, left, height, width, viewport, isOrdered: not by the reader}. Text offsets count characters of the text node.

const EVENTS = new Set(["ready", "hover", "take", "key", "scroll"]);
const KINDS = new Set(["value", "suggested", "hover", "record", "lost", "found", "comment"]);

export class PageFrame extends EventTarget {
  #iframe;
  #token;
  #elements = 0;
  #isReady = false;
  #marks = [];
  #outlined = null;
  #selected = null;
  #shown = null;
  #listener = (event) => this.#hear(event);
  #asker = () => this.#ask();
  #renewer = () => this.reload();

  constructor(iframe) {
    super();
    this.#iframe = iframe;
    this.#token = iframe.dataset.token;
    window.addEventListener("message", this.#listener);
    iframe.addEventListener("load", this.#asker);
    document.body.addEventListener("frame-fetched", this.#renewer);
    this.#ask();
  }

  /** How many elements the page has; their numbers are below. */
  get elements() {
    return this.#elements;
  }

  get isReady() {
    return this.#isReady;
  }

  /** Replace all marks. */
  mark(marks) {
    this.#marks = marks.filter((mark) => KINDS.has(mark.kind)).map(
      ({ id, kind, number, text = null, endNumber, label = "" }) => ({ id, kind, number, text, endNumber, label }),
    );
    this.#order("mark", { marks: this.#marks });
  }

  /** Scroll to an element unless it is in sight. */
  show(number) {
    this.#shown = number;
    this.#order("show", { number });
  }

  /** Outline an element instead of the one below the pointer; null gives that one back. */
  outline(number) {
    this.#outlined = number;
    this.#order("outline", { number });
  }

  /** Mark an element as chosen, and scroll to it; null chooses none. */
  select(number) {
    this.#selected = number;
    this.#order("select", { number });
  }

  /** Choose another element by keyboard: "next", "previous", "parent" or "child"; a hover event tells which. */
  step(direction) {
    this.#order("step", { direction });
  }

  /** Scroll to so many pixels from the top, or with `ratio` to a share of the way down. */
  scrollTo({ top, ratio }) {
    this.#order("scroll", { top, ratio });
  }

  focus() {
    this.#iframe.focus();
    this.#order("focus", {});
  }

  /** Load the page anew, as when its style sheets have come; marks stay. */
  reload() {
    this.#isReady = false;
    delete this.#iframe.dataset.ready;
    this.#iframe.src = this.#iframe.src; // the same address: it loads again
  }

  /** Stop listening: for an iframe that goes away. */
  close() {
    window.removeEventListener("message", this.#listener);
    this.#iframe.removeEventListener("load", this.#asker);
    document.body.removeEventListener("frame-fetched", this.#renewer);
  }

  #ask() {
    this.#post("hello", {});
  }

  #order(type, detail) {
    if (this.#isReady) this.#post(type, detail);
  }

  #post(type, detail) {
    // The frame's origin is opaque: it cannot be named as the one that may hear this.
    this.#iframe.contentWindow?.postMessage({ vertex: this.#token, type, ...detail }, "*");
  }

  #hear(event) {
    const { data } = event;
    if (event.source !== this.#iframe.contentWindow || event.origin !== "null") return;
    if (data?.vertex !== this.#token || !EVENTS.has(data.type)) return;
    if (data.type === "ready") this.#begin(data);
    const detail = this.#checked(data);
    if (detail !== null) this.dispatchEvent(new CustomEvent(data.type, { detail }));
  }

  #begin({ elements }) {
    this.#elements = Number.isInteger(elements) ? elements : 0;
    this.#isReady = true;
    this.#iframe.dataset.ready = "";
    this.mark(this.#marks);
    if (this.#outlined !== null) this.outline(this.#outlined);
    if (this.#selected !== null) this.select(this.#selected);
    else if (this.#shown !== null) this.show(this.#shown);
  }

  /** What a message says, every part of it checked; null where a number is none of the page's. */
  #checked({ type, ...said }) {
    if (type === "ready") return { elements: this.#elements, title: String(said.title ?? "") };
    if (type === "scroll") {
      const sizes = ["top", "left", "height", "width", "viewport"].map((name) => [name, Number(said[name]) || 0]);
      return { ...Object.fromEntries(sizes), isOrdered: said.isOrdered === true };
    }
    if (type === "key") {
      const { key, shift, ctrl, alt, meta } = said;
      return { key: String(key), shift: !!shift, ctrl: !!ctrl, alt: !!alt, meta: !!meta };
    }
    if (type === "hover") return this.#checkedHover(said);
    return this.#isNumber(said.number) ? { number: said.number, shift: !!said.shift, text: this.#checkedText(said.text) } : null;
  }

  #checkedHover({ number, path, quote }) {
    if (number !== null && !this.#isNumber(number)) return null;
    const steps = Array.isArray(path) ? path.filter((step) => this.#isNumber(step?.number)) : [];
    return {
      number,
      path: steps.map((step) => ({ number: step.number, name: String(step.name).slice(0, 60) })),
      quote: String(quote ?? "").slice(0, 200),
    };
  }

  #checkedText(text) {
    if (!text || !this.#isNumber(text.number) || !this.#isNumber(text.endNumber)) return null;
    const counts = [text.textNode, text.start, text.end, text.endTextNode];
    if (!counts.every((count) => Number.isInteger(count) && count >= 0)) return null;
    const { number, textNode, start, end, endNumber, endTextNode } = text;
    return { number, textNode, start, end, endNumber, endTextNode, quote: String(text.quote ?? "") };
  }

  #isNumber(number) {
    return Number.isInteger(number) && number >= 0 && number < this.#elements;
  }
}
