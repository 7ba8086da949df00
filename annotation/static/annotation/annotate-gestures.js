// What an editor does on a page, by pointer or by key, as the gesture that is sent.
import { asAnnotation } from "./annotate-proposals.js";

export class Gestures {
  runBegin = null; // the node in which a value begins that ends in another one
  #sample;
  #rows;
  #node;
  #say;

  constructor(sample, { rows, node, say }) {
    this.#sample = sample;
    this.#rows = rows;
    this.#node = node;
    this.#say = say;
    sample.element.addEventListener("click", (event) => this.#click(event));
  }

  get #active() {
    return this.#rows.active;
  }

  /** Add what only holds when the gesture is sent: the revisions that are shown. */
  complete(gesture) {
    const complete = { ...gesture };
    if ("attribute" in complete) complete.revision ??= this.#rows.revision(complete.attribute);
    complete.annotations &&= complete.annotations.map((annotation) => ({
      revision: this.#rows.revision(annotation.attribute),
      ...annotation,
    }));
    return complete;
  }

  takeFrom({ number, shift, text }) {
    this.#node.select(number);
    this.#sample.make({ gesture: "take", attribute: this.#active, place: { number, text }, widens: shift && !text });
  }

  takeSelected() {
    const { number } = this.#node;
    if (number === null) return this.#say("Choose a node with the arrow keys first.");
    return this.#sample.make({ gesture: "take", attribute: this.#active, place: { number, text: null } });
  }

  takeProposal(n) {
    const proposal = this.#sample.proposals.all(this.#active)[n];
    if (!proposal) return this.#say("There is no such suggestion.");
    return this.#sample.make({ gesture: "accept", annotations: [asAnnotation(this.#active, proposal)] });
  }

  markAbsent() {
    if (this.#active) this.#sample.make({ gesture: "absent", annotations: [{ attribute: this.#active }] });
    else this.clear();
  }

  markRestAbsent() {
    const open = this.#rows.openNames().filter((name) => name && !this.#sample.proposals.isSure(name));
    if (open.length) this.#sample.make({ gesture: "absent", annotations: open.map((attribute) => ({ attribute })) });
  }

  clear() {
    this.#sample.make({ gesture: "clear", attribute: this.#active });
  }

  takeAlike() {
    if (this.#active) this.#sample.make({ gesture: "take_alike", attribute: this.#active });
    else this.takeProposal(0);
  }

  beginRun() {
    this.runBegin = this.#node.number;
    this.#sample.draw();
    this.#say("The value begins here. Choose where it ends.");
  }

  finishRun() {
    const end = this.#node.number;
    if (this.runBegin === null || end === null) return this.#say("Say first where the value begins.");
    const number = this.runBegin;
    this.runBegin = null;
    return this.#sample.make({ gesture: "take_run", attribute: this.#active, number, end_number: end });
  }

  #click(event) {
    const at = (selector) => event.target.closest(selector);
    const row = at("[data-attribute]");
    if (at("[data-removes]")) {
      const position = Number(at("[data-removes]").dataset.removes);
      this.#sample.make({ gesture: "remove", attribute: row.dataset.attribute, position });
    } else if (at("[data-only-here]")) {
      const { position, onlyHere } = at("[data-only-here]").dataset;
      this.#sample.make({
        gesture: "only_here", attribute: row.dataset.attribute, position: Number(position), only_here: onlyHere === "yes",
      });
    } else if (at("[data-chooses]")) {
      this.#sample.choose(row.dataset.attribute);
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
    if (!this.#rows.isMulti(this.#active)) this.takeSelected();
  }

  #takeValue({ xpath, start, end, text }) {
    const whole = start === undefined ? {} : { start: Number(start), end: Number(end) };
    const mark = { xpath, text: start === undefined ? "" : text, ...whole };
    const adds = this.#rows.isMulti(this.#active);
    const annotation = { attribute: this.#active, marks: [mark], by_hand: true, adds };
    this.#sample.make({ gesture: "accept", annotations: [annotation] });
  }

  #takeSelection() {
    const part = this.#node.selection();
    if (!part) return this.#say("Select a part of the text first.");
    return this.#sample.make({ gesture: "take_text", attribute: this.#active, ...part });
  }
}
