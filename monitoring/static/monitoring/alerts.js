// One key takes up or snoozes an alert: the selected one, else the first that waits.
function formOf(act) {
  const selected = document.querySelector("tr[data-alert].is-selected");
  const buttons = [...(selected ?? document).querySelectorAll(`[data-act="${act}"]`)];
  return buttons.find((button) => !button.disabled);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-acts]");
  if (button) formOf(button.dataset.acts)?.click();
});
