(() => {
"use strict";
// Pictures as SVG files and their numbers as CSV files, made from what the page holds.
const drawn = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
  "stroke-linejoin", "stroke-linecap", "vector-effect", "opacity", "color", "display", "visibility",
  "overflow", "font-family", "font-size", "font-style", "font-weight", "font-variant-numeric",
  "text-anchor", "text-decoration-line"];
const slug = (words) => words.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60);
const nameOf = (element, ending) => {
  const heads = [...document.querySelectorAll("h1,h2,h3,h4")].filter((head) =>
    head.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING);
  const own = heads.length ? heads[heads.length - 1].textContent : "";
  return `drivelab-${slug(own) || "chart"}${ending}`;
};
// Styles of a page do not go with a file: each element takes its own along.
const dressed = (from, to) => {
  const style = getComputedStyle(from);
  to.setAttribute("style", drawn.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  to.removeAttribute("class");
  [...from.children].forEach((child, index) => dressed(child, to.children[index]));
};
const picture = (svg) => {
  const copy = svg.cloneNode(true);
  dressed(svg, copy);
  copy.querySelectorAll(".stops, .hair, .picked").forEach((one) => one.remove());
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const paper = document.createElementNS(svg.namespaceURI, "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy) + "\n";
};
const quoted = (words) => /[",\n]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words;
const csv = (table) => [...table.rows].map((row) =>
  [...row.cells].map((cell) => quoted(cell.textContent.trim().replace(/\s+/g, " "))).join(",") + "\n").join("");
const save = (name, type, text) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
const visible = (svgs) => svgs.find((svg) => svg.checkVisibility()) || svgs[0];
const bar = () => Object.assign(document.createElement("p"), { className: "tools save" });
const button = (parent, words, name, type, text) => {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: words });
  made.addEventListener("click", () => save(name, type, text()));
  made.fileText = text;
  parent.append(made);
};
document.querySelectorAll("figure").forEach((figure) => {
  const pictures = [...figure.querySelectorAll("svg")].filter((svg) => !svg.parentElement.closest("svg"));
  const table = figure.querySelector("table");
  const tools = bar();
  if (pictures.length) {
    button(tools, "save SVG", nameOf(pictures[0], ".svg"), "image/svg+xml", () => picture(visible(pictures)));
  }
  if (table) button(tools, "save CSV", nameOf(table, ".csv"), "text/csv", () => csv(table));
  if (tools.children.length) figure.append(tools);
});
document.querySelectorAll("table").forEach((table) => {
  if (table.closest("figure") || table.rows.length < 3 || table.classList.contains("facts")) return;
  const tools = bar();
  button(tools, "save CSV", nameOf(table, ".csv"), "text/csv", () => csv(table));
  (table.closest(".scroll") || table).after(tools);
});
})();
