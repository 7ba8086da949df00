// The elements of a page without the page: by their names, parents and texts one goes through it by keyboard.
export class Outline {
  #page;
  #shown;

  constructor(page) {
    this.#page = page;
    this.#shown = page.shown;
  }

  text(number) {
    return this.#page.texts[number] ?? "";
  }

  path(number) {
    const path = [];
    for (let at = number; at >= 0; at = this.#page.parents[at]) {
      path.unshift({ number: at, name: this.#page.labels[this.#page.label_of[at]] });
    }
    return path;
  }

  /** The first element of the page that shows a text of its own. */
  first() {
    return this.#shown.find((number) => this.#page.texts[number]) ?? this.#shown[0] ?? null;
  }

  step(from, direction) {
    const { parents } = this.#page;
    if (direction === "parent") return parents[from] >= 0 ? parents[from] : null;
    if (direction === "child") return this.#shown.find((number) => number > from && this.#isWithin(number, from)) ?? null;
    if (direction === "next") return this.#shown.find((number) => number > from && !this.#isWithin(number, from)) ?? null;
    return this.#shown.findLast((number) => number < from && !this.#isWithin(from, number)) ?? null;
  }

  /** The first element after another one, or from the beginning, that shows a text. */
  find(text, after) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return null;
    const found = this.#shown.filter((number) => this.text(number).toLowerCase().includes(wanted));
    return found.find((number) => number > (after ?? -1)) ?? found[0] ?? null;
  }

  #isWithin(number, ancestor) {
    let at = number;
    while (at > ancestor) at = this.#page.parents[at];
    return at === ancestor;
  }
}
