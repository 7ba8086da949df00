// From sample to sample: which one is shown, and which one comes next and is loaded before it is wanted.
const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

export class Route {
  current;
  next = null; // the address of the next sample, and the sample, loaded already
  #root;
  #begin;
  #onShow;
  #mayPrepare;
  #isMoving = false;
  #nOpened = 0;
  #wanted = ""; // the sample that the rule would learn most from
  #accepted = new Set(); // what was accepted since it was loaded: where not to go next

  /** `begin` makes a sample of an element; `onShow` hears of each that is shown. */
  constructor(root, { begin, onShow, mayPrepare }) {
    this.#root = root;
    this.#begin = begin;
    this.#onShow = onShow;
    this.#mayPrepare = mayPrepare;
    this.current = begin(root.querySelector("[data-sample]"));
  }

  get isMoving() {
    return this.#isMoving;
  }

  /** Let nothing else move while something is awaited. */
  async hold(awaited) {
    this.#isMoving = true;
    await awaited;
    this.#isMoving = false;
  }

  accept(href) {
    this.#accepted.add(href);
  }

  undoAccept(href) {
    this.#accepted.delete(href);
  }

  /** The address of the sample after this one; blank where none is left. */
  after({ href, nextAddresses }) {
    const isOpen = (address) => address && address !== href && !this.#accepted.has(address);
    return [this.#wanted, ...nextAddresses].find(isOpen) ?? "";
  }

  /** Go on with the sample that the panel names, once something is learnt. */
  follow(panel) {
    const link = panel.querySelector(".stop-next");
    this.#wanted = link && "learnt" in link.dataset ? new URL(link.href).pathname : "";
    this.#showHere();
    this.prefetch();
  }

  async open(href, { isBack = false, attribute = "" } = {}) {
    this.#isMoving = true;
    this.#nOpened += 1;
    const turn = this.#nOpened;
    try {
      const element = this.next?.href === href ? null : await this.#load(href);
      if (turn !== this.#nOpened) {
        element?.remove(); // another sample was wanted since
        return;
      }
      const sample = element ? this.#begin(element) : this.next.sample;
      if (this.next && this.next.sample !== sample) this.next.sample.leave();
      this.next = null;
      this.#show(sample, attribute);
      if (!isBack) history.pushState({}, "", href);
      painted().then(() => this.prefetch()); // what is wanted now comes first
    } catch {
      if (turn === this.#nOpened) location.href = href; // the page itself says what is wrong
    } finally {
      if (turn === this.#nOpened) this.#isMoving = false;
    }
  }

  /** Load the next sample before it is wanted; what is proposed on it waits while something is learnt. */
  async prefetch() {
    const href = this.after(this.current);
    if (!href || this.next?.href === href) return;
    try {
      const element = await this.#load(href);
      if (href === this.current.href || this.next?.href === href) {
        element.remove();
        return;
      }
      const sample = this.#begin(element);
      if (this.next) this.next.sample.leave();
      this.next = { href, sample };
      if (this.#mayPrepare()) sample.prepare();
    } catch {
      // it is loaded when it is wanted
    }
  }

  #show(sample, attribute) {
    const before = this.current;
    this.current = sample;
    sample.element.classList.remove("is-waiting");
    sample.element.inert = false;
    window.htmx?.process(sample.element); // it came without htmx, which fetches what the frame lacks
    before.leave();
    document.title = `Annotate ${sample.title} · Vertex`;
    sample.begin(attribute);
    this.#onShow(sample);
    this.#showHere();
  }

  /** Mark where the panel names the sample that is shown. */
  #showHere() {
    const link = document.querySelector("#rule-panel .stop-next");
    if (link) link.classList.toggle("is-here", new URL(link.href).pathname === this.current.href);
  }

  async #load(href) {
    const response = await fetch(href, { headers: { "X-Part": "sample" }, cache: "no-store" });
    if (!response.ok || response.redirected) throw new Error(`${response.status}`);
    const holder = document.createElement("template");
    holder.innerHTML = await response.text();
    const element = holder.content.querySelector("[data-sample]");
    if (!element) throw new Error("no sample");
    element.classList.add("is-waiting");
    element.inert = true;
    this.#root.prepend(element);
    return element;
  }
}
