// One key dismisses the selected cluster of the queue.
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-dismiss-row]")) return;
  const row = document.querySelector("table[data-rows] tr.is-selected") ?? document.activeElement?.closest("tr");
  row?.querySelector("[data-dismiss]")?.click();
});
