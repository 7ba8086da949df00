// The attributes beside a page, the records last: the annotation of each, and which one is chosen.
export class Rows {
  active = "";
  #sample;

  constructor(sample) {
    this.#sample = sample;
  }

  all() {
    return [...this.#sample.querySelectorAll("[data-attribute]")];
  }

  row(name) {
    return this.all().find((row) => row.dataset.attribute === name);
  }

  names() {
    return this.all().map((row) => row.dataset.attribute);
  }

  openNames() {
    return this.all().filter(isOpen).map((row) => row.dataset.attribute);
  }

  title(name) {
    return this.row(name)?.dataset.title;
  }

  isMulti(name) {
    return Boolean(this.row(name)?.dataset.multi);
  }

  revision(name) {
    return Number(this.row(name)?.dataset.revision ?? 0);
  }

  /** Whether anything is annotated on the page. */
  get isAnnotated() {
    return this.all().some((row) => !isOpen(row));
  }

  get hasRecords() {
    const row = this.row("");
    return row !== undefined && !isOpen(row);
  }

  /** The attribute to begin with: the wanted one, or else the first that is not annotated. */
  first(wanted) {
    const open = (wanted && this.row(wanted)) || this.all().find((row) => isOpen(row) && row.dataset.attribute);
    return (open ?? this.all()[0])?.dataset.attribute ?? "";
  }

  beside(by) {
    const names = this.names();
    return names[Math.min(names.length - 1, Math.max(0, names.indexOf(this.active) + by))];
  }

  choose(name) {
    this.active = name;
    for (const row of this.all()) {
      const isActive = row.dataset.attribute === name;
      row.classList.toggle("is-active", isActive);
      row.querySelector("[data-chooses]").setAttribute("aria-pressed", isActive);
    }
    this.row(name)?.scrollIntoView({ block: "nearest" });
  }

  /** Show rows anew as the server wrote them; the keyboard stays where it is. */
  replace(rows) {
    for (const [name, html] of Object.entries(rows)) {
      const holder = document.createElement("template");
      holder.innerHTML = html;
      const before = this.row(name);
      const hadFocus = before?.contains(document.activeElement);
      before?.replaceWith(holder.content.firstElementChild);
      if (hadFocus) this.row(name)?.querySelector("[data-chooses]").focus();
    }
  }

  words() {
    const rows = this.all().filter((row) => row.dataset.attribute);
    return `${rows.filter(isOpen).length} of ${rows.length} attributes open.`;
  }
}

export const isOpen = (row) => row.classList.contains("is-open");

/** What is drawn of the annotation of an attribute. */
export const marksOf = (row) => JSON.parse(row?.dataset.marks || "[]");

export const wordsOfRow = (row) => row.querySelector(".annotated-values").textContent.trim().replace(/\s+/g, " ");
