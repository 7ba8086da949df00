// The one script that runs in the frame: it tells the page around it what the pointer and the keys do, and
// draws marks above the stored page without touching it. It knows elements by their numbers only.
"use strict";
(() => {
  const script = document.currentScript;
  const { token, parent: parentOrigin } = script.dataset;
  script.remove();

  // A form of the stored page may have fields named like methods: nothing is called on an element itself.
  const method = (prototype, name) => Function.prototype.call.bind(prototype[name]);
  const getter = (prototype, name) =>
    Function.prototype.call.bind(Object.getOwnPropertyDescriptor(prototype, name).get);
  const attributeOf = method(Element.prototype, "getAttribute");
  const rectsOf = method(Element.prototype, "getClientRects");
  const scrollTo = method(Element.prototype, "scrollIntoView");
  const parentOf = getter(Node.prototype, "parentNode");
  const firstChildOf = getter(Node.prototype, "firstChild");
  const nextOf = getter(Node.prototype, "nextSibling");
  const kindOf = getter(Node.prototype, "nodeType");
  const textOf = getter(Node.prototype, "textContent");
  const nameOf = getter(Element.prototype, "localName");
  const contains = method(Node.prototype, "contains");
  const elementAt = method(Document.prototype, "elementFromPoint");

  const CLICK = 5; // pixels that a pointer may move between press and release
  const NATIVE_KEYS = /^(PageUp|PageDown|Home|End|Tab|F\d+|Shift|Control|Alt|Meta|AltGraph)$/;
  const CONTROLS = new Set(["input", "select", "textarea", "button", "option", "optgroup", "label", "summary"]);
  const FIELDS = new Set(["input", "select", "textarea", "button"]);
  const LONGEST = 200;

  // Numbers and texts

  const elements = [];
  const numbers = new WeakMap();
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_ELEMENT);
  while (walker.nextNode()) {
    const written = attributeOf(walker.currentNode, "data-n");
    if (written !== null) {
      elements[Number(written)] = walker.currentNode;
      numbers.set(walker.currentNode, Number(written));
    }
  }

  function numberedAt(node) {
    while (node && !numbers.has(node)) node = parentOf(node);
    return node;
  }

  function numberAt(node) {
    const found = numberedAt(node);
    return found ? numbers.get(found) : null;
  }

  // Text nodes of an element as the stored tree has them: a `tbody` that only browsers see is looked through.
  function textsOf(element, found = []) {
    for (let child = firstChildOf(element); child; child = nextOf(child)) {
      const kind = kindOf(child);
      if (kind === Node.TEXT_NODE || kind === Node.CDATA_SECTION_NODE) found.push(child);
      else if (kind === Node.ELEMENT_NODE && !numbers.has(child) && nameOf(child) === "tbody") textsOf(child, found);
    }
    return found;
  }

  // Offsets count characters, as Python does; browsers count units of UTF-16.
  const pointsUpTo = (text, units) => Array.from(text.slice(0, units)).length;
  const unitsUpTo = (text, points) => Array.from(text).slice(0, points).join("").length;

  function nameWithClass(element) {
    const name = nameOf(element).replace(/^vertex-/, "");
    const id = attributeOf(element, "id");
    const classes = (attributeOf(element, "class") ?? "").trim().split(/\s+/).filter(Boolean);
    return (name + (id ? `#${id}` : classes.length ? `.${classes[0]}` : "")).slice(0, 60);
  }

  function pathOf(element) {
    const path = [];
    for (let at = numberedAt(element); at; at = numberedAt(parentOf(at))) {
      path.unshift({ number: numbers.get(at), name: nameWithClass(at) });
    }
    return path;
  }

  // Talking to the page around

  function tell(type, detail = {}) {
    window.parent.postMessage({ vertex: token, type, ...detail }, parentOrigin);
  }

  const tellReady = () =>
    tell("ready", { elements: elements.length, title: document.title.slice(0, LONGEST), ...place() });

  function place() {
    const page = document.scrollingElement ?? document.documentElement;
    return {
      top: Math.round(window.scrollY),
      left: Math.round(window.scrollX),
      height: page.scrollHeight,
      width: page.scrollWidth,
      viewport: window.innerHeight,
    };
  }

  // Marks, drawn in a layer of their own

  const host = document.createElementNS("http://www.w3.org/1999/xhtml", "div");
  host.setAttribute("popover", "manual");
  host.setAttribute("aria-hidden", "true");
  host.setAttribute(
    "style",
    ["all:initial", "position:fixed", "inset:0", "width:auto", "height:auto", "margin:0", "padding:0", "border:0",
      "overflow:visible", "background:none", "pointer-events:none", "display:block", "z-index:2147483647",
      "visibility:visible", "opacity:1", "transform:none", "color-scheme:light"]
      .map((rule) => `${rule}!important`).join(";"),
  );
  const layer = host.attachShadow({ mode: "closed" });
  const looks = new CSSStyleSheet();
  looks.replaceSync(`
    .box { position: fixed; box-sizing: border-box; border-radius: 3px; border: 2px solid var(--line); background: var(--fill); }
    .label { position: fixed; font: 600 11px/16px system-ui, sans-serif; color: #fff; background: var(--tag); padding: 0 5px;
      border-radius: 3px; max-width: 240px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
    .value { --line: #0f8a4b; --fill: #12a15822; --tag: #0b6b3a; }
    .suggested { --line: #b36b00; --fill: #f5a52422; --tag: #8a5300; } .box.suggested { border-style: dashed; }
    .hover { --line: #4f46e5; --fill: #4f46e514; --tag: #4338ca; }
    .selected { --line: #4338ca; --fill: #4f46e526; --tag: #4338ca; } .box.selected { outline: 2px solid #ffffffcc; }
    .record { --line: #0e7490; --fill: #06b6d40f; --tag: #155e75; } .box.record { border-width: 1px 1px 1px 4px; }
    .lost { --line: #c22b20; --fill: #e5484d26; --tag: #a3221a; }
    .found { --line: #0f8a4b; --fill: #12a15833; --tag: #0b6b3a; } .box.found { border-style: double; border-width: 3px; }
    .comment { --line: #86198f; --fill: #c026d31a; --tag: #86198f; } .box.comment { border-width: 0 0 2px; }
  `);
  layer.adoptedStyleSheets = [looks];

  const KINDS = new Set(["value", "suggested", "hover", "selected", "record", "lost", "found", "comment"]);
  let marks = [];
  let outlined = null; // by the page around
  let hovered = null; // by the pointer
  let selected = null;
  let isDrawing = false;

  function draw() {
    if (isDrawing) return;
    isDrawing = true;
    requestAnimationFrame(() => {
      isDrawing = false;
      const drawn = document.createDocumentFragment();
      const over = outlined ?? hovered;
      const all = [...marks];
      if (over !== null) all.push({ kind: "hover", number: over });
      if (selected !== null) all.push({ kind: "selected", number: selected });
      const labels = new Labels();
      for (const mark of all) drawMark(mark, drawn, labels);
      layer.replaceChildren(drawn);
    });
  }

  function drawMark(mark, drawn, labels) {
    const rects = boxesOf(mark).filter((rect) => rect.width > 0 && rect.height > 0);
    for (const rect of rects) {
      const box = document.createElementNS("http://www.w3.org/1999/xhtml", "div");
      box.className = `box ${mark.kind}`;
      const grow = mark.text ? 1 : 0;
      box.style.cssText = `left:${rect.left - grow}px;top:${rect.top - grow}px;width:${rect.width + 2 * grow}px;height:${rect.height + 2 * grow}px`;
      drawn.append(box);
    }
    if (!mark.label || !rects.length) return;
    const placed = labels.place(mark.label, rects);
    if (!placed) return;
    const label = document.createElementNS("http://www.w3.org/1999/xhtml", "div");
    label.className = `label ${mark.kind}`;
    label.textContent = placed.text;
    label.style.cssText = `left:${placed.left}px;top:${placed.top}px`;
    drawn.append(label);
  }

  // Labels stand where the page shows no text, beside their box; one that finds no such place is shortened to a
  // letter, and left out where even that would cover something.
  const LABEL_HEIGHT = 16;
  const LABEL_MOST = 240;
  const LABEL_GAP = 2;
  const LOOK_EVERY = 7; // pixels between the points at which a place is looked at
  const pen = document.createElementNS("http://www.w3.org/1999/xhtml", "canvas").getContext("2d");
  if (pen) pen.font = "600 11px system-ui, sans-serif";

  class Labels {
    #placed = [];
    #textsAt = new Map(); // by element: where its own texts stand

    /** Return text and place of a label; null where each place would cover a text or another label. */
    place(text, rects) {
      for (const shown of [text, text.slice(0, 1)]) {
        const width = Math.min(LABEL_MOST, Math.ceil(pen ? pen.measureText(shown).width : 7 * shown.length) + 11);
        for (const [left, top] of this.#places(rects, width)) {
          const rect = new DOMRect(left, top, width, LABEL_HEIGHT);
          if (!this.#isFree(rect)) continue;
          this.#placed.push(rect);
          return { text: shown, left, top };
        }
      }
      return null;
    }

    /** Above, right, left and below of a value, then in the corners of its box. */
    #places(rects, width) {
      const [first, last, whole] = [rects[0], rects[rects.length - 1], around(rects)];
      const beside = first.top + Math.min(0, (first.height - LABEL_HEIGHT) / 2);
      const above = first.top - LABEL_HEIGHT - 1;
      return [
        [first.left, above],
        [first.right - width, above],
        [last.right + LABEL_GAP, last.bottom - Math.max(LABEL_HEIGHT, (last.height + LABEL_HEIGHT) / 2)],
        [first.left - width - LABEL_GAP, beside],
        [last.left, last.bottom + 1],
        [last.right - width, last.bottom + 1],
        [whole.right - width - LABEL_GAP, whole.top + LABEL_GAP],
        [whole.right - width - LABEL_GAP, whole.bottom - LABEL_HEIGHT - LABEL_GAP],
      ];
    }

    #isFree(rect) {
      if (rect.left < 0 || rect.right > document.documentElement.clientWidth) return false;
      if (rect.top < 0 || rect.bottom > window.innerHeight) return false;
      if (this.#placed.some((other) => meets(rect, other))) return false;
      for (let x = rect.left + 1; x < rect.right + LOOK_EVERY; x += LOOK_EVERY) {
        for (const y of [rect.top + 2, rect.top + LABEL_HEIGHT / 2, rect.bottom - 2]) {
          const element = elementAt(document, Math.min(x, rect.right - 1), y);
          if (element && this.#texts(element).some((text) => meets(rect, text))) return false;
        }
      }
      return true;
    }

    #texts(element) {
      let boxes = this.#textsAt.get(element);
      if (!boxes) {
        boxes = FIELDS.has(nameOf(element)) ? Array.from(rectsOf(element)) : [];
        for (let child = firstChildOf(element); child; child = nextOf(child)) {
          if (kindOf(child) !== Node.TEXT_NODE || !child.data.trim()) continue;
          const range = document.createRange();
          range.selectNodeContents(child);
          boxes.push(...range.getClientRects());
        }
        this.#textsAt.set(element, boxes);
      }
      return boxes;
    }
  }

  const meets = (one, other) =>
    one.left < other.right && other.left < one.right && one.top < other.bottom - 1 && other.top + 1 < one.bottom;

  function boxesOf({ number, text, endNumber, kind }) {
    const element = elements[number];
    if (!element) return [];
    if (text) return textBoxes(element, text, elements[endNumber] ?? null);
    const end = elements[endNumber];
    if (kind === "record" || end) return [around([...boxesOfElement(element), ...between(element, end)])];
    return boxesOfElement(element);
  }

  function boxesOfElement(element) {
    const own = Array.from(rectsOf(element));
    if (own.some((rect) => rect.width && rect.height)) return own;
    const range = document.createRange(); // an element without a box shows what its children show
    range.selectNodeContents(element);
    return Array.from(range.getClientRects());
  }

  function between(element, end) {
    if (!end || end === element) return [];
    const boxes = [];
    for (let at = nextOf(element); at; at = nextOf(at)) {
      if (kindOf(at) === Node.ELEMENT_NODE) boxes.push(...boxesOfElement(at));
      if (at === end) return boxes;
    }
    return boxesOfElement(end);
  }

  function around(rects) {
    const seen = rects.filter((rect) => rect.width && rect.height);
    if (!seen.length) return new DOMRect();
    const left = Math.min(...seen.map((rect) => rect.left));
    const top = Math.min(...seen.map((rect) => rect.top));
    const right = Math.max(...seen.map((rect) => rect.right));
    const bottom = Math.max(...seen.map((rect) => rect.bottom));
    return new DOMRect(left, top, right - left, bottom - top);
  }

  // A text mark is [text node, start, end], or with `endNumber` [text node, start, end, text node of the end].
  function textBoxes(element, [index, start, end, endIndex], endElement) {
    const first = textsOf(element)[index];
    const last = endElement && endIndex !== undefined ? textsOf(endElement)[endIndex] : first;
    if (!first || !last) return boxesOfElement(element);
    const range = document.createRange();
    range.setStart(first, Math.min(unitsUpTo(first.data, start ?? 0), first.length));
    range.setEnd(last, end === null || end === undefined ? last.length : Math.min(unitsUpTo(last.data, end), last.length));
    return Array.from(range.getClientRects());
  }

  const isWithin = (rect) =>
    rect.top >= 0 && rect.bottom <= window.innerHeight && rect.left >= 0 && rect.right <= window.innerWidth;

  let isOrdered = false; // the last scrolling was none of the reader's

  function scrollByOrder(scroll) {
    const { scrollX, scrollY } = window;
    scroll();
    isOrdered ||= window.scrollX !== scrollX || window.scrollY !== scrollY;
  }

  // The frame scrolls by itself first: what scrolls an element into view scrolls the page around as well.
  function show(number) {
    if (elements[number]) scrollByOrder(() => showElement(elements[number]));
  }

  function showElement(element) {
    let rect = around(boxesOfElement(element));
    if (isWithin(rect)) return;
    const spare = Math.max(0, window.innerHeight - rect.height) / 2;
    const left = rect.left < 0 || rect.right > window.innerWidth ? rect.left : 0;
    window.scrollBy({ top: rect.top - spare, left, behavior: "instant" });
    rect = around(boxesOfElement(element));
    const isNear = rect.top < window.innerHeight && rect.bottom > 0;
    if (!isNear) scrollTo(element, { block: "nearest", inline: "nearest" });
  }

  // Steps by keyboard: to what can be seen only

  const isSeen = (element) => {
    const rect = around(boxesOfElement(element));
    return rect.width > 0 && rect.height > 0;
  };

  function step(direction) {
    let at = selected ?? hovered;
    let found = null;
    if (at === null) found = elements.findIndex((element) => element && nameOf(element) === "body");
    else if (direction === "parent") found = numberAt(parentOf(elements[at]));
    else if (direction === "child") found = elements.findIndex((one, n) => n > at && one && contains(elements[at], one) && isSeen(one));
    else {
      const by = direction === "previous" ? -1 : 1;
      for (at += by; at >= 0 && at < elements.length; at += by) {
        if (elements[at] && isSeen(elements[at])) break;
      }
      found = elements[at] ? at : -1;
    }
    if (found !== null && found >= 0) {
      select(found);
      tellHover(found);
    }
  }

  function select(number) {
    selected = elements[number] ? number : null;
    if (selected !== null) show(selected);
    draw();
  }

  function tellHover(number) {
    const element = number === null ? null : elements[number];
    const quote = element ? textOf(element).replace(/\s+/g, " ").trim().slice(0, LONGEST) : "";
    tell("hover", { number, path: element ? pathOf(element) : [], quote });
  }

  // What the page around asks for

  const whole = (value) => (Number.isInteger(value) && value >= 0 && value < elements.length ? value : null);

  const ORDERS = {
    hello: tellReady,
    mark({ marks: wanted }) {
      marks = Array.from(wanted ?? []).filter((mark) => KINDS.has(mark.kind) && whole(mark.number) !== null)
        .map((mark) => ({ ...mark, label: mark.label ? String(mark.label).slice(0, 80) : "" }));
      draw();
    },
    outline({ number }) {
      outlined = whole(number);
      draw();
    },
    select: ({ number }) => select(whole(number)),
    show: ({ number }) => show(whole(number)),
    step: ({ direction }) => step(direction),
    scroll({ top, ratio }) {
      const { height, viewport } = place();
      scrollByOrder(() => window.scrollTo({ top: ratio === undefined ? top : ratio * (height - viewport) }));
    },
    focus: () => window.focus(),
  };

  window.addEventListener("message", (event) => {
    const { data } = event;
    if (event.source !== window.parent || event.origin !== parentOrigin) return;
    if (data?.vertex === token && Object.hasOwn(ORDERS, data.type)) ORDERS[data.type](data);
  });

  // Gestures

  let press = null;
  let isLooking = false;

  function listen(type, listener) {
    window.addEventListener(type, listener, { capture: true, passive: false });
  }

  listen("pointermove", (event) => {
    const number = numberAt(event.target);
    if (number === hovered || isLooking) return;
    isLooking = true;
    requestAnimationFrame(() => {
      isLooking = false;
      if (number === hovered) return;
      hovered = number;
      draw();
      tellHover(number);
    });
  });
  document.documentElement.addEventListener("pointerleave", () => {
    hovered = null;
    draw();
    tellHover(null);
  });
  listen("pointerdown", (event) => {
    event.stopImmediatePropagation();
    press = event.button === 0 ? { target: event.target, x: event.clientX, y: event.clientY } : null;
  });
  listen("pointercancel", () => {
    press = null;
  });
  listen("pointerup", (event) => {
    event.stopImmediatePropagation();
    if (!press) return;
    const { target, x, y } = press;
    press = null;
    const text = Math.hypot(event.clientX - x, event.clientY - y) > CLICK ? selectedText() : null;
    if (text) {
      const number = text.number === text.endNumber ? text.number : commonNumber(text);
      tell("take", { number, shift: event.shiftKey, text });
    } else {
      tell("take", { number: numberAt(target), shift: event.shiftKey, text: null });
    }
    getSelection().removeAllRanges();
  });

  function commonNumber({ number, endNumber }) {
    let at = elements[number];
    while (at && !contains(at, elements[endNumber])) at = parentOf(at);
    return numberAt(at);
  }

  // The selected text without blanks at its ends; null where none is selected.
  function selectedText() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    const texts = textsIn(range);
    const first = texts.find(({ data, from, to }) => data.slice(from, to).trim());
    const last = texts.findLast(({ data, from, to }) => data.slice(from, to).trim());
    if (!first || !last) return null;
    const start = first.from + first.data.slice(first.from, first.to).search(/\S/);
    const end = last.from + last.data.slice(last.from, last.to).trimEnd().length;
    const [from, to] = [numberedAt(first.node), numberedAt(last.node)];
    return {
      number: numbers.get(from),
      textNode: textsOf(from).indexOf(first.node),
      start: pointsUpTo(first.data, start),
      end: pointsUpTo(last.data, end),
      endNumber: numbers.get(to),
      endTextNode: textsOf(to).indexOf(last.node),
      quote: texts.map(({ data, from: a, to: b }) => data.slice(a, b)).join(" ").replace(/\s+/g, " ").trim().slice(0, 2000),
    };
  }

  function textsIn(range) {
    const found = [];
    const inside = document.createTreeWalker(range.commonAncestorContainer, NodeFilter.SHOW_TEXT);
    for (let node = inside.currentNode; node; node = inside.nextNode()) {
      if (kindOf(node) !== Node.TEXT_NODE || !range.intersectsNode(node) || numberAt(node) === null) continue;
      const from = node === range.startContainer ? range.startOffset : 0;
      const to = node === range.endContainer ? range.endOffset : node.length;
      if (to > from && !["style", "script", "title"].includes(nameOf(parentOf(node)))) {
        found.push({ node, data: node.data, from, to });
      }
    }
    return found;
  }

  listen("mousedown", (event) => {
    if (event.button !== 0 || CONTROLS.has(nameOf(event.target))) event.preventDefault();
    window.focus();
  });
  for (const type of ["click", "dblclick", "auxclick", "submit", "reset", "dragstart", "drop", "beforeinput", "toggle"]) {
    listen(type, (event) => {
      event.preventDefault();
      event.stopImmediatePropagation();
    });
  }
  listen("keydown", (event) => {
    const { key, shiftKey: shift, ctrlKey: ctrl, altKey: alt, metaKey: meta, isComposing } = event;
    if (isComposing) return;
    tell("key", { key, shift, ctrl, alt, meta });
    if (!ctrl && !meta && !alt && !NATIVE_KEYS.test(key)) event.preventDefault();
  });

  let isTelling = false;
  function moved() {
    draw();
    if (isTelling) return;
    isTelling = true;
    requestAnimationFrame(() => {
      isTelling = false;
      tell("scroll", { ...place(), isOrdered });
      isOrdered = false;
    });
  }
  window.addEventListener("scroll", moved, { capture: true, passive: true });
  window.addEventListener("resize", draw);
  window.addEventListener("load", draw, true); // images change where things are
  new ResizeObserver(draw).observe(document.documentElement);

  document.documentElement.append(host);
  host.showPopover();
  tellReady();
})();
