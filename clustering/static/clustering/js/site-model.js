// Shows all links of the class that is pointed at or has the focus.
const graph = document.querySelector("[data-graph]");

function show(name) {
  graph.classList.toggle("is-pointed", name !== null);
  const near = new Set([name]);
  for (const edge of graph.querySelectorAll(".edge")) {
    const isOut = edge.dataset.from === name;
    const isIn = edge.dataset.to === name;
    edge.classList.toggle("is-near", isOut || isIn);
    edge.classList.toggle("is-inward", isIn);
    if (isOut) near.add(edge.dataset.to);
    if (isIn) near.add(edge.dataset.from);
  }
  for (const node of graph.querySelectorAll(".node")) node.classList.toggle("is-near", near.has(node.dataset.node));
}

const nameOf = (event) => event.target.closest?.("[data-node]")?.dataset.node ?? null;

if (graph) {
  const frame = graph.parentElement;
  frame.scrollLeft = (frame.scrollWidth - frame.clientWidth) / 2;
  graph.addEventListener("pointerover", (event) => show(nameOf(event)));
  graph.addEventListener("pointerleave", () => show(null));
  graph.addEventListener("focusin", (event) => show(nameOf(event)));
  graph.addEventListener("focusout", () => show(null));
}
