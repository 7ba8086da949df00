// What is proposed for the attributes of a page: by the rule first, then what is found on the page.
import { button, element } from "./annotate-elements.js";

const MIN_CONFIDENCE = 0.5; // of a proposal that is accepted with the page
const MAX_PROPOSALS = 3;
const MAX_COMPARED = 150; // characters of two values

export class Proposals {
  #found = new Map();
  #rule = new Map();

  takeFound(proposals) {
    this.#found = new Map(Object.entries(proposals));
  }

  takeRule({ rule, attributes }) {
    this.#rule = new Map(Object.entries(rule ? attributes : {}));
  }

  all(name) {
    const found = (this.#found.get(name) ?? []).slice(0, MAX_PROPOSALS);
    const rule = this.#rule.get(name);
    return rule && (rule.absent || rule.marks?.length) ? [{ ...rule, source: "rule" }, ...found].slice(0, MAX_PROPOSALS) : found;
  }

  best(name) {
    return this.all(name)[0];
  }

  isSure(name) {
    const best = this.best(name);
    return best !== undefined && best.confidence >= MIN_CONFIDENCE;
  }

  /** The mark of the best proposal, where the page shows it. */
  marks(name, title) {
    const marks = (this.best(name)?.marks ?? []).filter((mark) => Number.isInteger(mark.number));
    return marks.map((mark, n) => ({
      id: `${name}?${n}`,
      kind: "suggested",
      number: mark.number,
      endNumber: mark.endNumber,
      text: Array.isArray(mark.drawn) ? mark.drawn : null,
      label: `${title}?`,
    }));
  }

  /** A button that takes a proposal. */
  button(name, proposal, n, isActive, act) {
    const made = button("proposal", "", (event) => {
      event.stopPropagation();
      act();
    });
    made.title = proposal.why ?? "";
    if (isActive) made.append(element("kbd", "", String(n + 1)));
    made.append(element("span", "annotated-text", wordsOf(proposal)));
    const words = name ? `${proposal.source} ${Math.round(100 * proposal.confidence)} %` : proposal.source;
    const source = element("span", "proposal-source small muted", words);
    if (n === 0 && this.isSure(name)) source.append(element("span", "proposal-sure", "⏎"));
    made.append(source);
    return made;
  }

  /** What the rule finds where a person took something: null for nothing known, "" for the same, else its words. */
  compared(row) {
    const rule = row.dataset.attribute && this.#rule.get(row.dataset.attribute);
    if (!rule) return null;
    const values = [...row.querySelectorAll(".annotated-value .annotated-text")].map((one) => one.textContent.slice(0, MAX_COMPARED));
    const found = (rule.marks ?? []).map(({ text }) => String(text ?? "").slice(0, MAX_COMPARED));
    const isSame = rule.absent ? !values.length : values.every((value) => found.includes(value)) && found.length >= values.length;
    return isSame ? "" : `rule finds ${rule.absent ? "nothing" : `“${found[0] ?? ""}”`}`;
  }
}

/** A proposal as the annotation of an attribute that it comes to. */
export function asAnnotation(name, { marks = [], absent = false, source }) {
  const kept = marks.map(({ xpath, end_xpath, start, end, text }) => ({ xpath, end_xpath, start, end, text }));
  // Of records without their places the list that was found is meant.
  return { attribute: name, marks: kept.filter(({ xpath }) => xpath), absent: absent === true, source };
}

export function wordsOf({ marks = [], absent = false }) {
  if (absent || !marks.length) return "not on this page";
  const texts = marks.map(({ text }) => text).filter(Boolean);
  if (!texts.length) return `${marks.length} records`;
  return texts.length > 3 ? `${texts.slice(0, 3).join(", ")} and ${texts.length - 3} more` : texts.join(", ");
}
