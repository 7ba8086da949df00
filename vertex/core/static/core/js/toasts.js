// Toasts leave by themselves unless they offer an undo or tell of a failure: what one may need waits for everybody.
const STAY = 6000;

const staysUntilClosed = (toast) => toast.matches(".is-bad, .is-warning") || toast.querySelector("form") !== null;

function leaveLater(toast) {
  if (staysUntilClosed(toast)) return;
  setTimeout(() => {
    if (toast.matches(":hover, :focus-within")) leaveLater(toast);
    else toast.remove();
  }, STAY);
}

/** Take away what was true only while a job went on, once the job has ended. */
async function leaveWithJobs() {
  for (const toast of document.querySelectorAll(".toast[data-word-of-job]")) {
    const answer = await fetch(toast.dataset.wordOfJob, { headers: { Accept: "text/plain" } });
    if (answer.ok && !answer.redirected && (await answer.text()).startsWith("0-")) toast.remove();
  }
}

export function watchToasts() {
  const place = document.getElementById("toasts");
  if (!place) return;
  for (const toast of place.children) leaveLater(toast);
  new MutationObserver((changes) => {
    for (const change of changes) for (const node of change.addedNodes) if (node.matches?.(".toast")) leaveLater(node);
  }).observe(place, { childList: true });
  place.addEventListener("click", (event) => {
    if (event.target.closest("[data-close]")) event.target.closest(".toast").remove();
  });
  document.addEventListener("vertex:updated", leaveWithJobs);
  document.addEventListener("htmx:sendError", () => tell("The server does not answer. What is shown may be old."));
  document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status >= 500) tell("The server could not answer. Load the page again.");
  });
}

/** Tell of a failure, once as long as its toast stays. */
export function tell(text) {
  const place = document.getElementById("toasts");
  if (![...place.children].some((toast) => toast.dataset.text === text)) showToast(text);
}

/** Show a toast; with an address, it offers to go there. */
export function showToast(text, { href = "" } = {}) {
  const toast = document.getElementById("toast-template").content.firstElementChild.cloneNode(true);
  toast.dataset.text = text;
  toast.querySelector(".notice-text").textContent = text;
  if (href) {
    const link = document.createElement("a");
    link.href = href;
    link.className = "button button-small";
    link.textContent = "Show it";
    toast.insertBefore(link, toast.lastElementChild);
  }
  document.getElementById("toasts").append(toast);
}
