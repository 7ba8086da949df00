// Ask before a page is left on which somebody wrote something that was not kept.

const form = document.getElementById("hand-form");

if (form) {
  const written = () => JSON.stringify([...new FormData(form)].filter(([, value]) => typeof value === "string"));
  const isRefused = document.querySelector(".notice[role=alert]") !== null;
  const begun = isRefused ? "" : written();
  let isKept = false;
  form.addEventListener("submit", () => {
    isKept = true;
  });
  window.addEventListener("beforeunload", (event) => {
    if (!isKept && written() !== begun) event.preventDefault();
  });
}
