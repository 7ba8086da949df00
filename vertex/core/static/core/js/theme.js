// Runs before the first paint, so that a page never flashes in the other colours.
(() => {
  const kept = localStorage.getItem("vertex.theme");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
})();
