// Gestures that came after somebody else's on the same attribute, and the choice between the two.
import { button, element } from "./annotate-elements.js";

export class Conflicts {
  #waiting = new Map(); // by attribute: the gesture that came too late, and what holds since
  #make;

  constructor(make) {
    this.#make = make;
  }

  take(gesture, { conflicts = [], changes = [] }) {
    for (const { attribute } of changes) this.#waiting.delete(attribute);
    for (const { attribute, text } of conflicts) {
      if (gesture) this.#waiting.set(attribute, { gesture: partOf(gesture, attribute), text });
    }
  }

  show(rowOf) {
    for (const [name, { gesture, text }] of this.#waiting) {
      const row = rowOf(name);
      const slot = row?.querySelector("[data-conflict]");
      if (!slot) continue;
      const settle = (words, chosen) => button("button button-small", words, () => this.#settle(name, row, slot, chosen));
      const buttons = [settle("Keep theirs", null), settle("Take mine", gesture)];
      if (row.dataset.multi && gesture.gesture === "accept") buttons.push(settle("Keep both", withAdds(gesture)));
      slot.replaceChildren(element("span", "small", text), ...buttons);
      slot.hidden = false;
      row.classList.add("is-conflict");
    }
  }

  #settle(name, row, slot, gesture) {
    this.#waiting.delete(name);
    row.classList.remove("is-conflict");
    slot.hidden = true;
    slot.replaceChildren();
    if (gesture) this.#make(withoutRevision(gesture));
  }
}

function partOf(gesture, attribute) {
  if (!gesture.annotations) return gesture;
  return { ...gesture, annotations: gesture.annotations.filter((annotation) => annotation.attribute === attribute) };
}

function withoutRevision({ revision: _, ...gesture }) {
  if (!gesture.annotations) return gesture;
  return { ...gesture, annotations: gesture.annotations.map(({ revision: __, ...annotation }) => annotation) };
}

const withAdds = (gesture) => ({
  ...gesture,
  annotations: gesture.annotations.map((annotation) => ({ ...annotation, adds: true })),
});
