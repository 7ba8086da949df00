// A comment stands at the node that is chosen on the page, where there is one and the box is ticked.
const chosen = () => document.querySelector("[data-node-text][data-number]")?.dataset.number ?? "";

document.addEventListener("focusin", (event) => {
  const form = event.target.closest?.("[data-comment-form]");
  if (form && chosen()) form.querySelector("[data-comment-at]").hidden = false;
});
document.addEventListener("htmx:configRequest", (event) => {
  const form = event.target.closest?.("[data-comment-form]");
  const box = form?.querySelector("[data-comment-at]:not([hidden]) input");
  if (box?.checked && chosen()) event.detail.parameters.number = chosen();
});
