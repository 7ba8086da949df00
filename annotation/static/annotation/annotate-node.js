// The node at hand: the one that is chosen, or else the one below the pointer, with its path and what it holds.
import { button, element } from "./annotate-elements.js";

const REST = 150; // milliseconds on a node before what it holds is loaded

export class NodeAtHand {
  selected = null;
  outline = null;
  #hovered = null;
  #timer = 0;

  constructor(sample, frame, say) {
    this.sample = sample;
    this.frame = frame;
    this.say = say;
  }

  /** The number of the node at hand, null for none. */
  get number() {
    return this.selected ?? this.#hovered;
  }

  hover({ number, path, quote }) {
    this.#hovered = number;
    if (number !== null) this.#showPath(path, quote);
  }

  /** Go to another node; from `start` where none is at hand. */
  step(direction, start) {
    if (!this.outline) return;
    const from = this.number ?? start;
    const to = from === null ? this.outline.first() : this.outline.step(from, direction);
    if (to !== null) this.select(to);
  }

  find(text, isNext) {
    const found = this.outline?.find(text, isNext ? this.selected : null);
    if (Number.isInteger(found)) this.select(found);
    else if (text) this.say(`Nothing on the page contains “${text}”.`);
  }

  select(number) {
    this.selected = number;
    this.frame.select(number);
    if (this.outline) {
      const path = this.outline.path(number);
      this.#showPath(path, this.outline.text(number));
      this.say(`${path.at(-1).name} ${this.outline.text(number)}`);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.load(number), REST);
  }

  /** Which characters of the node's text are chosen; null for none. */
  selection() {
    const field = this.sample.querySelector("[data-node-text]");
    const points = (units) => Array.from(field.value.slice(0, units)).length;
    const [start, end] = [points(field.selectionStart), points(field.selectionEnd)];
    return start === end ? null : { number: Number(field.dataset.number), start, end };
  }

  /** Show what a node holds; what the head of the page says without a number. */
  async load(number) {
    const panel = this.sample.querySelector("[data-node-panel]");
    try {
      const response = await fetch(`${this.sample.dataset.node}?number=${number}`);
      if (response.ok && (number === "" || number === this.selected)) panel.innerHTML = await response.text();
    } catch {
      // the values of a node are shown as soon as the server answers again
    }
  }

  async open() {
    await this.load(this.selected ?? "");
    this.sample.querySelector("[data-node-values] button")?.focus();
  }

  #showPath(path, quote) {
    const list = this.sample.querySelector("[data-path]");
    const steps = path.map(({ number, name }, n) => {
      const item = document.createElement("li");
      const step = button("path-step", name);
      step.dataset.number = number;
      if (n === path.length - 1) step.setAttribute("aria-current", "true");
      item.append(step);
      return item;
    });
    list.replaceChildren(...steps, element("li", "path-quote small muted", quote));
    list.scrollLeft = list.scrollWidth;
  }
}
