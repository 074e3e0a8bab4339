// The motif: a conversation as a strip of blocks, each as long as its units, the window as a frame over it.

const ROLES = {
  instructions: ["S", "instructions"], user: ["U", "user"], assistant: ["A", "assistant"], tool: ["T", "tool"],
  note: ["N", "note"], reply: ["R", "room for the reply"],
};
const GAP = 1.5;

// The hatching of what has left; each figure needs its own pattern because ids are global.
function hatch() {
  const id = newId("hatch");
  const pattern = s("pattern", { id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    s("rect", { width: 5, height: 5, class: "clw-hatch-ground" }), s("line", { x1: 0, y1: 0, x2: 0, y2: 5, class: "clw-hatch-line" }));
  return { id, defs: s("defs", {}, pattern) };
}

// A block; the class `clw-left` hatches and fades it, `clw-ahead` hides it. Without a hatching it stays as it is.
function block(role, x, width, y, height, hatchId) {
  const inner = Math.max(width - GAP, 0.8);
  const node = s("g", { class: "clw-block", "data-role": role }, s("rect", { x, y, width: inner, height, class: "clw-fill" }),
    hatchId ? s("rect", { x, y, width: inner, height, class: "clw-gone", fill: `url(#${hatchId})` }) : null);
  if (inner >= 13) node.append(s("text", { x: x + inner / 2, y: y + height / 2 + 4.2, class: "clw-letter" }, ROLES[role][0]));
  return node;
}

// A drawing that is as wide as its place: `draw(width)` returns the children of the svg and its height.
function drawing(signal, draw) {
  const svg = s("svg", { class: "clw-svg", "aria-hidden": "true", focusable: "false" });
  const box = h("div", { class: "clw-figure" }, svg);
  let width = 0;
  const redraw = () => {
    const now = Math.round(box.clientWidth);
    if (!now) return;
    width = now;
    const { children, height } = draw(width);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    svg.replaceChildren(...children);
  };
  const watch = new ResizeObserver(() => Math.round(box.clientWidth) !== width && redraw());
  watch.observe(box);
  signal?.addEventListener("abort", () => watch.disconnect());
  return { box, svg, redraw };
}

// A slider with its label and its value in words; `say` makes the value text that a screen reader hears.
function slider(label, min, max, onInput, say) {
  const id = newId("slider");
  const output = h("output", { for: id, class: "clw-value" });
  const input = h("input", { type: "range", id, min, max, step: 1, class: "clw-slider", oninput: () => onInput(Number(input.value)) });
  // The value takes the place of the longest one, so that the slider does not move while it is moved.
  let longest = 0;
  for (let value = min; value <= max; value++) longest = Math.max(longest, say(value).length);
  output.style.minWidth = `${longest}ch`;
  const row = h("div", { class: "clw-control" }, h("label", { for: id, html: label }), input, output);
  return {
    row, input,
    set(value) {
      if (Number(input.value) !== value) input.value = value;
      output.textContent = say(value);
      input.setAttribute("aria-valuetext", say(value));
      const top = Number(input.max);
      input.style.setProperty("--part", `${top > min ? ((value - min) / (top - min)) * 100 : 0}%`);
    },
  };
}

// The table that stands beside or under every explorer; a column of words stands at the left.
function tableOf(table) {
  const words = table.head.map((_, i) => (/[a-z]{2}/i.test(table.rows[0]?.[i] || "") ? "clw-words" : null));
  return h("table", { class: "clw-table" },
    h("thead", {}, h("tr", {}, table.head.map((cell, i) => h("th", { scope: "col", class: words[i], html: cell })))),
    h("tbody", {}, table.rows.map((row) => h("tr", {}, row.map((cell, i) => h(i ? "td" : "th", { scope: i ? null : "row", class: words[i], html: cell }))))));
}
// What may be wider than the page scrolls, and the keyboard reaches it.
const scroller = (name, ...children) => h("div", { class: "clw-scroll", tabindex: "0", role: "group", "aria-label": name }, ...children);
function folded(data, name = data.table_title || "The same as a table") {
  return h("details", { class: "clw-solution" }, h("summary", {}, name), scroller(name, tableOf(data.table)));
}

function legend(roles, more) {
  return h("p", { class: "clw-legend", "aria-hidden": "true" },
    roles.map((role) => h("span", {}, h("i", { "data-role": role }, ROLES[role][0]), " ", ROLES[role][1])), more || null);
}
