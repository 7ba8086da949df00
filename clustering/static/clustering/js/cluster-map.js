// Draws the pages of a site as marks on a map: hovering names a page, a click opens it, the legend hides clusters.
const WIDTH = 960;
const HEIGHT = 540;
const MARGIN = 64;
const N_HUES = 8;
const N_SHAPES = 6;
const FAR = 0.5; // distance from the middle of its cluster from which a page stands out
const TURN = 2.399963; // radians between neighbours of a heap, so that none lies above another
const SVG = "http://www.w3.org/2000/svg";

const hueOf = (number) => (number === null ? "none" : number % N_HUES);
const shapeOf = (number) => (number === null ? "none" : number % N_SHAPES);

function element(name, attributes = {}) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Pages at the same place lie around it in a spiral; they would hide each other.
function spread(points) {
  const nByPlace = new Map();
  return points.map((point) => {
    const place = `${Math.round(point.x * 120)} ${Math.round(point.y * 70)}`;
    const n = nByPlace.get(place) ?? 0;
    nByPlace.set(place, n + 1);
    const away = 5 * Math.sqrt(n);
    return {
      ...point,
      left: MARGIN + point.x * (WIDTH - 2 * MARGIN) + away * Math.cos(n * TURN),
      top: HEIGHT - MARGIN - point.y * (HEIGHT - 2 * MARGIN) + away * Math.sin(n * TURN),
    };
  });
}

function drawPoint(point, titles) {
  const link = element("a", { href: point.href, tabindex: "-1" });
  const isFar = point.number !== null && point.distance !== null && point.distance >= FAR;
  const outside = point.number === null ? " is-outlier" : isFar ? " is-outlier" : "";
  const mark = element("use", {
    href: `#mark-${shapeOf(point.number)}`,
    x: point.left - 6,
    y: point.top - 6,
    width: 12,
    height: 12,
    class: `map-point hue-${hueOf(point.number)}${outside}`,
  });
  link.dataset.cluster = point.number ?? "none";
  link.dataset.url = point.url;
  link.dataset.title = titles.get(point.number) ?? "in no cluster";
  link.append(mark);
  return link;
}

function drawSheet(told, titles) {
  const svg = element("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "xMidYMid meet",
    "aria-hidden": "true", // the marks are for the pointer; the table says the same
  });
  // Large clusters first, so that small ones and pages in none lie above them.
  const order = (point) => (point.number === null ? Infinity : point.number);
  for (const point of spread(told.points).sort((a, b) => order(a) - order(b))) svg.append(drawPoint(point, titles));
  return svg;
}

function entry(number, title, count) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "legend-entry";
  button.setAttribute("aria-pressed", "true");
  button.dataset.cluster = number ?? "none";
  const mark = element("svg", { class: `mark hue-${hueOf(number)}`, viewBox: "0 0 12 12", "aria-hidden": "true" });
  mark.append(element("use", { href: `#mark-${shapeOf(number)}`, width: 12, height: 12 }));
  const word = Object.assign(document.createElement("span"), { className: "legend-title", textContent: title, title });
  const figure = Object.assign(document.createElement("span"), { className: "count", textContent: count.toLocaleString("en") });
  button.append(mark, word, figure);
  return button;
}

function drawLegend(legend, told) {
  const count = (number) => told.points.filter((point) => point.number === number).length;
  legend.replaceChildren(...told.clusters.map((cluster) => entry(cluster.number, cluster.title, count(cluster.number))));
  if (count(null)) legend.append(entry(null, "In no cluster", count(null)));
}

function watchPoints(sheet, svg) {
  const tip = Object.assign(document.createElement("div"), { className: "map-tip", hidden: true });
  sheet.append(tip);
  svg.addEventListener("pointerover", (event) => {
    const point = event.target.closest("a");
    tip.hidden = !point;
    if (!point) return;
    const title = Object.assign(document.createElement("div"), { className: "strong", textContent: point.dataset.title });
    const url = Object.assign(document.createElement("div"), { className: "mono", textContent: point.dataset.url });
    tip.replaceChildren(title, url);
    const frame = sheet.getBoundingClientRect();
    const place = point.getBoundingClientRect();
    const isRight = place.left - frame.left > frame.width / 2;
    tip.style.left = isRight ? "auto" : `${place.right - frame.left + 6}px`;
    tip.style.right = isRight ? `${frame.right - place.left + 6}px` : "auto";
    tip.style.top = `${Math.min(place.top - frame.top, frame.height - 60)}px`;
  });
  svg.addEventListener("pointerleave", () => (tip.hidden = true));
}

function watchLegend(legend, svg) {
  const points = (cluster) => svg.querySelectorAll(`[data-cluster="${cluster}"]`);
  legend.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const isShown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", isShown);
    for (const point of points(button.dataset.cluster)) point.toggleAttribute("hidden", !isShown);
  });
  const point = (cluster) => {
    for (const mark of svg.querySelectorAll(".map-point")) {
      mark.classList.toggle("is-faint", cluster !== null && mark.parentNode.dataset.cluster !== cluster);
    }
  };
  legend.addEventListener("pointerover", (event) => point(event.target.closest("button")?.dataset.cluster ?? null));
  legend.addEventListener("pointerleave", () => point(null));
  legend.addEventListener("focusin", (event) => point(event.target.closest("button")?.dataset.cluster ?? null));
  legend.addEventListener("focusout", () => point(null));
}

async function drawMap(map) {
  const sheet = map.querySelector(".map-sheet");
  const legend = map.querySelector(".map-legend");
  try {
    const answer = await fetch(map.dataset.map, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(answer.statusText);
    const told = await answer.json();
    const titles = new Map(told.clusters.map((cluster) => [cluster.number, cluster.title]));
    const svg = drawSheet(told, titles);
    sheet.replaceChildren(svg);
    sheet.setAttribute("role", "group");
    const n = `${told.points.length} pages in ${told.clusters.length} clusters`;
    sheet.setAttribute("aria-label", `Map of ${n}; the table above lists the clusters`);
    drawLegend(legend, told);
    watchPoints(sheet, svg);
    watchLegend(legend, svg);
    map.dataset.drawn = "yes";
  } catch {
    const failed = Object.assign(document.createElement("p"), {
      className: "muted map-failed",
      textContent: "The map could not be loaded. Load the page again; the table above lists the same clusters.",
    });
    sheet.replaceChildren(failed);
  }
}

// A clustering that came out meanwhile is shown as a whole: what the page says of the one before is old.
function showResult() {
  const isAtWork = () => Boolean(document.querySelector("#work .working"));
  let was = isAtWork();
  document.addEventListener("htmx:afterSettle", () => {
    if (was && !isAtWork()) location.reload();
    was = isAtWork();
  });
}

showResult();
const map = document.querySelector("[data-map]");
if (map) drawMap(map);
