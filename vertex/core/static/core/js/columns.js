// Which columns a table shows, kept per table in this browser.
const keyOf = (table) => `vertex.columns.${table.dataset.columns}`;

const hiddenOf = (table) => new Set(JSON.parse(localStorage.getItem(keyOf(table)) ?? "[]"));

function apply(table) {
  const hidden = hiddenOf(table);
  table.querySelectorAll("thead th").forEach((head, index) => {
    const isHidden = hidden.has(head.dataset.column);
    for (const row of table.rows) if (row.cells[index]) row.cells[index].hidden = isHidden;
  });
}

function fillMenu(menu, table) {
  const sheet = menu.querySelector(".menu-sheet");
  const hidden = hiddenOf(table);
  sheet.replaceChildren();
  for (const head of table.querySelectorAll("thead th[data-column]")) {
    const label = document.createElement("label");
    label.className = "menu-choice";
    const box = Object.assign(document.createElement("input"), {
      type: "checkbox",
      checked: !hidden.has(head.dataset.column),
      value: head.dataset.column,
    });
    label.append(box, head.textContent.trim());
    sheet.append(label);
  }
}

const tableOf = (menu) => document.querySelector(`table[data-columns="${menu.dataset.columnsOf}"]`);

export function keepColumns() {
  const applyAll = () => document.querySelectorAll("table[data-columns]").forEach(apply);
  applyAll();
  document.addEventListener("htmx:afterSwap", applyAll);
  for (const menu of document.querySelectorAll("details[data-columns-of]")) {
    menu.addEventListener("toggle", () => menu.open && tableOf(menu) && fillMenu(menu, tableOf(menu)));
    menu.addEventListener("change", (event) => {
      const table = tableOf(menu);
      const hidden = hiddenOf(table);
      if (event.target.checked) hidden.delete(event.target.value);
      else hidden.add(event.target.value);
      localStorage.setItem(keyOf(table), JSON.stringify([...hidden]));
      apply(table);
    });
  }
}
