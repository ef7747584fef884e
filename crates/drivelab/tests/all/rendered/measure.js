// Measures the page it stands in and tells the page around it; every fault is a sentence.
(() => {
"use strict";
const SMALLEST_CONTRAST = 4.5;
const errors = [];
addEventListener("error", (event) => errors.push(String(event.message)));

const color = (text) => {
  const numbers = (text.match(/[\d.]+/g) || []).map(Number);
  if (!text.startsWith("rgb")) return null;
  return { rgb: numbers.slice(0, 3), alpha: numbers.length > 3 ? numbers[3] : 1 };
};
const over = (upper, alpha, lower) => upper.map((value, i) => value * alpha + lower[i] * (1 - alpha));
const luminance = (rgb) => {
  const [r, g, b] = rgb.map((value) => value / 255)
    .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
};
const canvas = () => matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
// What lies behind an element: its own and its ancestors' backgrounds, from the bottom.
const behind = (element) => {
  const layers = [];
  for (let at = element; at; at = at.parentElement) {
    const found = color(getComputedStyle(at).backgroundColor);
    if (found && found.alpha > 0) layers.unshift(found);
  }
  return layers.reduce((below, layer) => over(layer.rgb, layer.alpha, below), canvas());
};
const opacity = (element) => {
  let product = 1;
  for (let at = element; at; at = at.parentElement) product *= Number(getComputedStyle(at).opacity);
  return product;
};
const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
// The filled rectangles of the same picture below a text of it.
const shadesBelow = (element, box) => {
  const picture = element.closest("figure svg, svg");
  const root = picture && (picture.parentElement.closest("svg") || picture);
  const found = [];
  for (const rect of root ? root.querySelectorAll("rect") : []) {
    const style = getComputedStyle(rect);
    const fill = color(style.fill);
    const alpha = fill ? fill.alpha * Number(style.fillOpacity) * opacity(rect) : 0;
    const isBelow = rect.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (alpha > 0 && isBelow && style.visibility !== "hidden" && meets(rect.getBoundingClientRect(), box)) {
      found.push({ rgb: fill.rgb, alpha });
    }
  }
  return found;
};
const clipped = (box, element) => {
  let { left, right, top, bottom } = box;
  for (let at = element; at && at !== document.documentElement; at = at.parentElement) {
    const style = getComputedStyle(at);
    if (at === document.body || at instanceof SVGElement || style.overflowX === "visible") continue;
    const edge = at.getBoundingClientRect();
    [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
    [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
  }
  return { left, right, top, bottom };
};
// Every line of text that can be seen, with its place.
const texts = () => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || element.closest("script,style,title,desc")) continue;
    const visible = { contentVisibilityAuto: true, opacityProperty: true, visibilityProperty: true };
    if (!element.checkVisibility(visible)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const isPicture = element instanceof SVGElement;
    const boxes = isPicture ? [element.getBoundingClientRect()] : [...range.getClientRects()];
    for (const box of boxes) {
      const seen = clipped(box, element);
      if (seen.right - seen.left < 1 || seen.bottom - seen.top < 1) continue;
      found.push({ node, element, box: seen, words: node.data.trim().slice(0, 40) });
    }
  }
  return found;
};
const overlaps = (all, faults) => {
  // The box of a line is higher than its letters.
  const cores = all.map((text) => {
    const high = text.box.bottom - text.box.top;
    const { left, right, top, bottom } = text.box;
    const box = { left: left + 0.7, right: right - 0.7, top: top + high * 0.12, bottom: bottom - high * 0.12 };
    return { ...text, box };
  }).sort((a, b) => a.box.top - b.box.top);
  cores.forEach((a, index) => {
    for (let other = index + 1; other < cores.length; other++) {
      const b = cores[other];
      if (b.box.top >= a.box.bottom) break;
      if (a.node !== b.node && meets(a.box, b.box)) faults.push(`overlap: "${a.words}" and "${b.words}"`);
    }
  });
};
const contrasts = (all, faults) => {
  for (const { element, box, words } of all) {
    const style = getComputedStyle(element);
    const ink = color(element instanceof SVGElement ? style.fill : style.color);
    if (!ink) { faults.push(`contrast: the colour of "${words}" is not known`); continue; }
    const shades = element instanceof SVGElement ? shadesBelow(element, box) : [];
    const paper = shades.reduce((below, shade) => over(shade.rgb, shade.alpha, below), behind(element));
    const seen = over(ink.rgb, ink.alpha * opacity(element), paper);
    const ratio = contrast(seen, paper);
    if (ratio < SMALLEST_CONTRAST) faults.push(`contrast: "${words}" ${ratio.toFixed(2)} to 1`);
  }
};
const overflows = (all, faults) => {
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) faults.push(`overflow: the page is ${wide} wide in ${innerWidth}`);
  for (const { box, words } of all) {
    const isOut = box.right > innerWidth + 0.5 || box.left < -0.5;
    if (isOut) faults.push(`overflow: "${words}" from ${box.left.toFixed(0)} to ${box.right.toFixed(0)}`);
  }
};
const structure = (faults) => {
  let before = 0;
  for (const heading of document.querySelectorAll("h1,h2,h3,h4,h5,h6")) {
    const level = Number(heading.localName[1]);
    if (level > before + 1) faults.push(`heading: h${level} "${heading.textContent}" after h${before}`);
    before = level;
  }
  if (document.querySelectorAll("h1").length !== 1) faults.push("heading: not one h1");
  for (const picture of document.querySelectorAll("svg")) {
    const isInner = picture.parentElement.closest("svg");
    if (!isInner && !picture.getAttribute("aria-label")) faults.push("alt: a picture without words");
  }
};
// Pictures that can be seen: not those of another width, nor inside another.
const pictures = () => [...document.querySelectorAll("figure svg")].filter((svg) =>
  !svg.parentElement.closest("svg") && svg.checkVisibility() && svg.getBoundingClientRect().width > 0);
const DATA = "path.line, .bar, .dot, .hollow, .part, .level, .doubt, .error, .f1, .f2, .f3, .f4, .f5";
const isWithin = (box, frame, room) => box.left >= frame.left - room && box.right <= frame.right + room
  && box.top >= frame.top - room && box.bottom <= frame.bottom + room;
// Frames without data, data and words that a frame cuts off; an arrow may say that data go on.
const drawings = (faults) => {
  for (const svg of pictures()) {
    const name = (svg.getAttribute("aria-label") || "").slice(0, 60);
    const frame = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const words = text.textContent.slice(0, 40);
      const isShown = text.checkVisibility() && text.getBoundingClientRect().width > 0;
      if (isShown && !isWithin(text.getBoundingClientRect(), frame, 2.5)) faults.push(`cut: "${words}" in ${name}`);
      // Alone it stands for what a picture leaves out.
      if (text.textContent.includes("…") && text.textContent.trim() !== "…") faults.push(`cut: "${words}" in ${name}`);
    }
    const frames = [svg, ...svg.querySelectorAll("svg.plot")];
    for (const one of frames) {
      const isPlot = one !== svg;
      const marks = [...one.querySelectorAll(isPlot ? `${DATA}, rect, circle` : `${DATA}, rect, circle, path:not(.axis):not(.grid)`)];
      if (!marks.length) faults.push(`empty: ${name}`);
      if (svg.querySelector(".arrow")) continue;
      const edge = isPlot ? one.viewBox.baseVal : null;
      for (const mark of one.querySelectorAll(DATA)) {
        if (!isPlot && mark.closest("svg") !== svg) continue;
        const found = isPlot ? mark.getBBox() : mark.getBoundingClientRect();
        const box = { left: found.x, top: found.y, right: found.x + found.width, bottom: found.y + found.height };
        const around = isPlot
          ? { left: edge.x, top: edge.y, right: edge.x + edge.width, bottom: edge.y + edge.height } : frame;
        if (!isWithin(box, around, 1.5)) faults.push(`clipped: ${name}: ${mark.getAttribute("class")}`);
      }
    }
  }
};
// What a reader saves: each picture as an SVG that stands alone, each table as CSV.
const files = (faults) => {
  for (const button of document.querySelectorAll(".save button")) {
    const text = button.fileText();
    if (button.textContent.endsWith("SVG")) {
      const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
      const isWhole = parsed.documentElement.localName === "svg" && !parsed.querySelector("parsererror, [class]")
        && parsed.documentElement.getAttribute("width") > 0;
      if (!isWhole) faults.push(`save: no picture: ${text.slice(0, 80)}`);
    } else if (text.split("\n").length < 3) faults.push(`save: no numbers: ${text.slice(0, 80)}`);
  }
};
const bottom = (selector) => {
  const found = document.querySelector(selector);
  return found ? found.getBoundingClientRect().bottom : null;
};
// A pointer over the first picture, a click on a legend, a zoom: what the script promises.
const scripted = () => {
  const picture = [...document.querySelectorAll("svg.lines")].find((one) =>
    one.dataset.x.endsWith("s") && one.checkVisibility() && one.querySelector('path.line[data-label*="p99"]'));
  if (!picture) return null;
  const box = picture.getBoundingClientRect();
  const at = { clientX: box.left + box.width * 0.6, clientY: box.top + box.height / 3, bubbles: true };
  picture.dispatchEvent(new PointerEvent("pointermove", at));
  const values = picture.parentElement.querySelector(".values");
  const key = picture.querySelector("g.key");
  const label = key ? key.querySelector("text").textContent : "";
  const line = picture.querySelector(`path.line[data-label="${label}"]`);
  if (key) key.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  const isHidden = getComputedStyle(line).display === "none";
  if (key) key.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  const plot = picture.querySelector("svg.plot");
  const whole = plot.getAttribute("viewBox");
  const buttons = picture.parentElement.querySelectorAll(".tools button");
  if (buttons.length) buttons[0].click();
  const zoomed = plot.getAttribute("viewBox");
  const ticks = picture.querySelectorAll("g.ticks text").length;
  if (buttons.length) buttons[2].click();
  return {
    crosshair: values ? values.textContent : "",
    hidden: isHidden, zoomed: zoomed !== whole, ticks, restored: plot.getAttribute("viewBox") === whole,
  };
};
const measure = () => {
  const faults = [];
  structure(faults);
  drawings(faults);
  files(faults);
  const verdict = document.querySelector(".verdict p");
  const places = {
    verdict_top: verdict ? verdict.getBoundingClientRect().top : null,
    verdict_bottom: bottom(".verdict p"), numbers_bottom: bottom(".numbers"),
  };
  for (const isOpen of [false, true]) {
    if (isOpen) document.querySelectorAll("details").forEach((details) => { details.open = true; });
    const all = texts();
    overflows(all, faults);
    overlaps(all, faults);
    contrasts(all, faults);
    places[isOpen ? "texts_open" : "texts"] = all.length;
  }
  const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
  loaded.forEach((name) => faults.push(`network: ${name}`));
  errors.forEach((message) => faults.push(`script: ${message}`));
  return {
    width: innerWidth, height: innerHeight, faults, ...places,
    background: getComputedStyle(document.body).backgroundColor, script: scripted(),
    pictures: pictures().length, files: document.querySelectorAll(".save button").length,
  };
};
addEventListener("load", () => setTimeout(() => {
  let result;
  try { result = measure(); } catch (error) { result = { failed: String(error.stack) }; }
  parent.postMessage({ name: window.name, result }, "*");
}, 50));
})();
