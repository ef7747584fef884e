(() => {
"use strict";
// The page is complete without this: it adds a crosshair, switches curves, widens the time axis.
const scales = {
  o: [[" IOPS", 1], ["k IOPS", 1e3], ["M IOPS", 1e6], ["G IOPS", 1e9]],
  b: [["B/s", 1], ["kB/s", 1e3], ["MB/s", 1e6], ["GB/s", 1e9], ["TB/s", 1e12]],
  n: [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]],
  s: [["s", 1]], p: [["%", .01]], c: [["°C", 1]], f: [["×", 1]], k: [["", 1]],
  y: [["B", 1], ["kB", 1e3], ["MB", 1e6], ["GB", 1e9], ["TB", 1e12], ["PB", 1e15]],
};
const show = (value, unit) => {
  const steps = scales[unit];
  const [name, factor] = steps.filter((step) => value >= step[1] * .9995).pop() || steps[0];
  const number = value / factor;
  const digits = unit === "c" ? 0 : number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  const isPlain = unit === "p" || unit === "k";
  return ((isPlain ? String(+number.toPrecision(3)) : number.toFixed(digits)) + (unit === "o" ? "" : " ") + name).trim();
};
const axisOf = (text) => {
  const [from, to, scale, unit] = text.split(" ");
  const [low, high, isLog] = [+from, +to, scale === "log"];
  const at = (share) => isLog ? low * (high / low) ** share : low + (high - low) * share;
  return { low, high, unit, at };
};
// Absolute points of a path that knows M x y, l dx dy and h dx.
const pointsOf = (d) => {
  const points = [];
  let x = 0, y = 0;
  for (const [, command, rest] of d.matchAll(/([Mlh])([^Mlh]*)/g)) {
    const [a, b] = (rest.match(/-?[\d.]+/g) || []).map(Number);
    if (command === "M") { [x, y] = [a, b]; } else if (command === "l") { x += a; y += b; } else continue;
    points.push([x, y]);
  }
  return points;
};
const make = (name, parent, attributes) => {
  const element = document.createElementNS(parent.namespaceURI, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  return parent.appendChild(element);
};
const nearest = (points, x) => {
  let low = 0, high = points.length;
  while (low < high) { const mid = low + high >> 1; points[mid][0] < x ? low = mid + 1 : high = mid; }
  const [a, b] = [points[low - 1], points[low]];
  return !a ? b : !b ? a : x - a[0] < b[0] - x ? a : b;
};
const chart = (svg) => {
  const axis = axisOf(svg.dataset.x);
  const plots = [...svg.querySelectorAll("svg.plot")].map((plot) => {
    const box = plot.viewBox.baseVal;
    const frame = { left: plot.x.baseVal.value, top: plot.y.baseVal.value, width: box.width, height: box.height };
    const y = axisOf(plot.dataset.y);
    const lines = [...plot.querySelectorAll("path.line")].map((path) =>
      ({ path, label: path.dataset.label, points: pointsOf(path.getAttribute("d")) }));
    return { plot, frame, y, lines, whole: plot.getAttribute("viewBox") };
  });
  if (!plots.length) return;
  const { left, width, top } = plots[0].frame;
  const last = plots[plots.length - 1].frame;
  const floor = last.top + last.height;
  const isTime = axis.unit === "s";
  const figure = svg.closest("figure");
  let from = 0, to = 1, pinned = .5;
  svg.querySelectorAll("g.stops").forEach((stops) => stops.remove());
  const hair = make("path", svg, { class: "hair", visibility: "hidden" });
  const picked = make("rect", svg, { class: "picked", y: top, height: floor - top, visibility: "hidden" });
  const values = document.createElement("p");
  values.className = "values";
  values.textContent = "\u00a0";
  svg.after(values);
  const shareAt = (event) => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
    return Math.min(1, Math.max(0, (x - left) / width));
  };
  const read = (share) => {
    const whole = from + (to - from) * share;
    pinned = whole;
    hair.setAttribute("d", `M${left + width * share} ${top}V${floor}`);
    hair.setAttribute("visibility", "visible");
    const said = [isTime ? axis.at(whole).toFixed(2) + " s" : show(axis.at(whole), axis.unit)];
    for (const { frame, y, lines } of plots) for (const { path, label, points } of lines) {
      const point = path.style.display === "none" ? null : nearest(points, whole * width);
      if (point) said.push(label + " " + show(y.at(1 - point[1] / frame.height), y.unit));
    }
    values.textContent = said.join(" · ");
  };
  // Curves on and off: the entries of the legend are buttons.
  svg.querySelectorAll("g.key").forEach((key) => {
    const label = key.querySelector("text").textContent;
    const line = plots.flatMap((plot) => plot.lines).find((one) => one.label === label);
    if (!line) return;
    svg.setAttribute("role", "group");
    const toggle = () => {
      const hidden = line.path.style.display !== "none";
      line.path.style.display = hidden ? "none" : "";
      key.classList.toggle("off", hidden);
      key.setAttribute("aria-pressed", String(!hidden));
    };
    key.setAttribute("role", "button");
    key.setAttribute("tabindex", "0");
    key.setAttribute("aria-pressed", "true");
    key.addEventListener("click", toggle);
    key.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(); }
    });
  });
  svg.addEventListener("pointerleave", () => hair.setAttribute("visibility", "hidden"));
  let begin = null;
  svg.addEventListener("pointermove", (event) => {
    const share = shareAt(event);
    read(share);
    if (begin === null) return;
    picked.setAttribute("x", left + width * Math.min(begin, share));
    picked.setAttribute("width", width * Math.abs(share - begin));
    picked.setAttribute("visibility", "visible");
  });
  if (!isTime) return;
  const ticks = svg.querySelector("g.ticks");
  const whole = ticks.innerHTML;
  const words = svg.querySelectorAll("text.word, circle.dot");
  const zoom = (low, high) => {
    const length = Math.min(1, Math.max(high - low, 2e-3));
    from = Math.min(Math.max(0, low), 1 - length);
    to = from + length;
    const isWhole = length > .999;
    for (const { plot, frame, whole } of plots) {
      const part = `${from * width} 0 ${length * width} ${frame.height}`;
      plot.setAttribute("viewBox", isWhole ? whole : part);
    }
    words.forEach((word) => word.style.display = isWhole ? "" : "none");
    hair.setAttribute("visibility", "hidden");
    ticks.innerHTML = isWhole ? whole : "";
    if (isWhole) return;
    const [a, b] = [axis.at(from), axis.at(to)];
    const power = 10 ** Math.floor(Math.log10((b - a) / 4));
    const step = power * ([1, 2, 5].find((one) => one * power >= (b - a) / 5) || 10);
    for (let index = Math.ceil(a / step); index * step <= b; index++) {
      const x = left + width * (index * step - a) / (b - a);
      make("path", ticks, { d: `M${x} ${floor}v4`, class: "axis" });
      const text = make("text", ticks, { x, y: floor + 16, class: "mid" });
      text.textContent = +(index * step).toPrecision(6) + " s";
    }
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && !event.target.closest("g.key")) begin = shareAt(event);
  });
  addEventListener("pointerup", (event) => {
    if (begin === null) return;
    const [first, share] = [begin, shareAt(event)];
    begin = null;
    picked.setAttribute("visibility", "hidden");
    const at = (one) => from + (to - from) * one;
    if (Math.abs(share - first) > .01) zoom(at(Math.min(first, share)), at(Math.max(first, share)));
  });
  const tools = document.createElement("p");
  tools.className = "tools";
  const tool = (words, action) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", action);
    tools.append(button);
  };
  const by = (factor) => zoom(pinned - (to - from) * factor / 2, pinned + (to - from) * factor / 2);
  tool("zoom in", () => by(.5));
  tool("zoom out", () => by(2));
  tool("all", () => zoom(0, 1));
  values.after(tools);
};
document.querySelectorAll("svg.lines").forEach(chart);
})();
