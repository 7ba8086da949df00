// What was done and can be undone, and what was undone and can be done again; kept while the tab is open.
const MAX_STEPS = 200;

export class Steps {
  #name;
  #done;
  #undone;

  constructor(place) {
    this.#name = `vertex.annotate.steps.${place}`;
    const kept = JSON.parse(sessionStorage.getItem(this.#name) ?? "{}");
    this.#done = kept.done ?? [];
    this.#undone = kept.undone ?? [];
  }

  add({ href, url, changes }) {
    const parts = changes.map(({ attribute, before, after }) => ({ attribute, before, after, now: after }));
    this.#done.push({ href, url, parts });
    this.#done.splice(0, this.#done.length - MAX_STEPS);
    this.#undone = [];
    this.#keep();
  }

  lastDone() {
    return this.#done.at(-1);
  }

  lastUndone() {
    return this.#undone.at(-1);
  }

  /** Which revisions are to hold again, and which are shown. */
  wanted(step, isUndo) {
    return step.parts.map(({ attribute, before, after, now }) => ({
      attribute,
      shown: now,
      wanted: isUndo ? before : after,
    }));
  }

  move(step, changes, isUndo) {
    for (const { attribute, after } of changes) {
      const part = step.parts.find((one) => one.attribute === attribute);
      if (part) part.now = after;
    }
    const [from, to] = isUndo ? [this.#done, this.#undone] : [this.#undone, this.#done];
    from.splice(from.indexOf(step), 1);
    if (changes.length) to.push(step);
    this.#keep();
  }

  #keep() {
    sessionStorage.setItem(this.#name, JSON.stringify({ done: this.#done, undone: this.#undone }));
  }
}
