// Small elements that scripts of the page to annotate make.
export function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

export function button(className, text, act) {
  const made = element("button", className, text);
  made.type = "button";
  if (act) made.addEventListener("click", act);
  return made;
}
