// Goes through the cards of a review with j and k; x marks the one at hand as a stranger.
const cards = () => [...document.querySelectorAll("[data-card]")];
const isOn = () => localStorage.getItem("vertex.keys") !== "off";

let at = -1;

function goTo(place) {
  const all = cards();
  if (!all.length) return;
  at = Math.min(all.length - 1, Math.max(0, place));
  for (const card of all) card.classList.remove("is-selected");
  all[at].classList.add("is-selected");
  all[at].focus({ preventScroll: true });
  all[at].scrollIntoView({ block: "nearest" });
}

function toggle() {
  const box = cards()[at]?.querySelector("[data-stranger]");
  if (box) box.checked = !box.checked;
}

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches?.("input[type=text], textarea, select");
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping || !isOn()) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "j") goTo(at + 1);
  if (event.key === "k") goTo(at < 0 ? 0 : at - 1);
});
document.addEventListener("focusin", (event) => {
  const card = event.target.closest?.("[data-card]");
  if (card) at = cards().indexOf(card);
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-toggle-card]")) toggle();
});
