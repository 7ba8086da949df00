// Forms with [data-passkey]: the browser makes a passkey or is asked for one, and its answer is handed in.
const optionsOf = async (form) => {
  if (form.dataset.options) return JSON.parse(document.getElementById(form.dataset.options).textContent);
  const answer = await fetch(form.dataset.optionsFrom, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.json();
};

const make = ({ creation_options: options }, isAlone) => {
  const wanted = structuredClone(options);
  if (isAlone) {
    // Found without a user name, and guarded by finger, face or PIN.
    Object.assign(wanted.publicKey.authenticatorSelection, {
      residentKey: "required",
      requireResidentKey: true,
      userVerification: "required",
    });
  }
  return window.webauthnJSON.create(wanted);
};

const answer = async (form) => {
  const options = await optionsOf(form);
  if (form.dataset.passkey === "make") return make(options, form.elements.passwordless.checked);
  return window.webauthnJSON.get(options.request_options);
};

for (const form of document.querySelectorAll("form[data-passkey]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const problem = form.querySelector("[data-passkey-problem]");
    problem.hidden = true;
    try {
      form.elements.credential.value = JSON.stringify(await answer(form));
    } catch {
      problem.hidden = false;
      form.classList.remove("is-sent"); // it may be pressed again: see base.js
      return;
    }
    form.submit();
  });
}
