// Rows of attributes: added, removed and put in order by hand or by keys; the server decides what they mean.
const list = document.querySelector("[data-attribute-list]");
const template = document.querySelector("[data-attribute-template]");
const total = document.querySelector("[name$=TOTAL_FORMS]");
const told = document.querySelector("[data-attribute-told]");

const rows = () => [...list.querySelectorAll("[data-attribute]:not([hidden])")];
const nameOf = (row) => row.querySelector("[name$=-name]");
const say = (text) => (told.textContent = text);

function number() {
  rows().forEach((row, place) => {
    row.querySelector("[name$=-ORDER]").value = place + 1;
    row.querySelector("[data-attribute-up]").disabled = place === 0;
    row.querySelector("[data-attribute-down]").disabled = place === rows().length - 1;
  });
}

function dress(row) {
  row.querySelector(".attribute-plain").hidden = true;
  for (const button of row.querySelectorAll("button[hidden]")) button.hidden = false;
}

function add(after) {
  const holder = document.createElement("template");
  holder.innerHTML = template.innerHTML.replaceAll("__prefix__", total.value);
  total.value = Number(total.value) + 1;
  const row = holder.content.querySelector("[data-attribute]");
  dress(row);
  if (after) after.after(row);
  else list.append(row);
  number();
  nameOf(row).focus();
  say("A row is added");
}

function remove(row) {
  const all = rows();
  const next = all[all.indexOf(row) + 1] ?? all[all.indexOf(row) - 1];
  row.querySelector("[name$=-DELETE]").checked = true;
  row.hidden = true;
  number();
  say(`${nameOf(row).value || "The row"} is removed`);
  if (next) nameOf(next).focus();
  else add();
}

function move(row, step) {
  const all = rows();
  const other = all[all.indexOf(row) + step];
  if (!other) return;
  const focused = document.activeElement;
  if (step < 0) other.before(row);
  else other.after(row);
  number();
  (focused.disabled ? nameOf(row) : focused).focus();
  say(`${nameOf(row).value || "The row"} is now number ${rows().indexOf(row) + 1}`);
}

function click(event) {
  const row = event.target.closest("[data-attribute]");
  if (event.target.closest("[data-attribute-add]")) add();
  else if (row && event.target.closest("[data-attribute-up]")) move(row, -1);
  else if (row && event.target.closest("[data-attribute-down]")) move(row, 1);
  else if (row && event.target.closest("[data-attribute-remove]")) remove(row);
}

function press(event) {
  const row = event.target.closest("[data-attribute]");
  if (!row) return;
  if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
    event.preventDefault();
    move(row, event.key === "ArrowUp" ? -1 : 1);
  } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && event.target.matches("input[type=text]")) {
    event.preventDefault();
    const next = rows()[rows().indexOf(row) + 1];
    if (next) nameOf(next).focus();
    else if (nameOf(row).value) add(row);
  }
}

if (list) {
  rows().forEach(dress);
  for (const hidden of document.querySelectorAll("[data-attribute-add], [data-attribute-help]")) hidden.hidden = false;
  for (const row of rows().filter((row) => row.querySelector("[name$=-DELETE]").checked)) row.hidden = true;
  number();
  const box = list.closest("[data-attributes]");
  box.addEventListener("click", click);
  box.addEventListener("keydown", press);
}
