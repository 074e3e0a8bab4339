// Sliders, a table or formulas, a drawing, and a sentence that reads the result. The window bar is one of these.

const DRAWINGS = { parts: drawParts, bars: drawBars, curve: drawCurve };

// The budget as a bar: each part as long as its units; what does not fit stands outside the frame.
function drawParts(data, names, width) {
  const { total, parts, unit } = data.draw;
  const whole = fracNumber(names[total]);
  const sizes = parts.map((part) => Math.max(fracNumber(names[part.name]), 0));
  const sum = sizes.reduce((a, b) => a + b, 0);
  const scale = (width - 4) / Math.max(whole, sum, 1);
  const { id, defs } = hatch();
  const H = 40;
  const y = 22;
  const children = [defs, s("text", { x: 2, y: 12, class: "clw-row-name" }, `${data.draw.label}: ${fracText(names[total])} ${unit}`)];
  let x = 2;
  parts.forEach((part, i) => {
    const wide = sizes[i] * scale;
    if (wide > 0.3) {
      if (part.role === "reply" || part.free) {
        children.push(s("rect", { class: part.free ? "clw-free" : "clw-reply", x: x + 1, y: y + 1, width: Math.max(wide - 2, 0.5), height: H - 2 }));
        if (wide > 16) children.push(s("text", { x: x + wide / 2, y: y + H / 2 + 4, class: "clw-under" }, part.letter || "R"));
      } else {
        const shown = block(part.role, x, wide, y, H, id);
        const letter = shown.querySelector("text");
        if (letter && part.letter) letter.textContent = part.letter;
        children.push(shown);
      }
    }
    x += wide;
  });
  children.push(s("rect", { class: "clw-window", x: 1, y: y - 5, width: whole * scale + 2, height: H + 10, rx: 2 }));
  return { children, height: y + H + 10 };
}

// Quantities side by side, on one scale that does not move.
function drawBars(data, names, width) {
  const { bars, most, unit } = data.draw;
  const top = fracNumber(most ? fromText(String(most)) : fromText("0"));
  const values = bars.map((bar) => fracNumber(names[bar.name]));
  const scale = (width - 4) / Math.max(top, ...values, 1e-9);
  const children = [];
  bars.forEach((bar, i) => {
    const y = i * 48;
    children.push(
      s("text", { x: 2, y: y + 14, class: "clw-row-name" }, `${bar.label}: ${fracText(names[bar.name], bar.digits ?? 2)} ${bar.unit ?? unit}`),
      s("rect", { x: 2, y: y + 20, height: 16, width: Math.max(values[i] * scale, 1), class: "clw-fill", "data-role": bar.role || "instructions" }));
  });
  return { children, height: bars.length * 48 - 4 };
}

// One result over one control, with the present point on it.
function drawCurve(data, names, width, settings) {
  const { x: along, y: of, x_label, y_label } = data.draw;
  const control = data.controls.find((one) => one.name === along);
  const xs = steps(control);
  const points = xs.map((value) => [Number(value), fracNumber(valuesOf(data, { ...settings, [along]: value })[of])]);
  const high = Math.max(...points.map(([, y]) => y), 1e-9);
  const ticks = [0, high / 2, high];
  const mark = (y) => group(Math.round(y * 100) / 100);
  const [low, last] = [points[0][0], points.at(-1)[0]];
  const [L, R, T, H] = [16 + 7 * Math.max(...ticks.map((y) => mark(y).length)), width - 14, 26, 190];
  const px = (x) => L + ((x - low) / (last - low || 1)) * (R - L);
  const py = (y) => T + (1 - y / high) * (H - T);
  const now = [fracNumber(names[along]), fracNumber(names[of])];
  return {
    height: H + 40,
    children: [
      ...ticks.map((y) => s("line", { class: "clw-grid", x1: L, x2: R, y1: py(y), y2: py(y) })),
      ...ticks.map((y) => s("text", { x: L - 8, y: py(y) + 4, class: "clw-end" }, mark(y))),
      s("text", { x: L, y: H + 18, class: "clw-row-name" }, group(low)),
      s("text", { x: R, y: H + 18, class: "clw-end" }, group(last)),
      s("text", { x: (L + R) / 2, y: H + 34, class: "clw-under" }, x_label),
      s("text", { x: 2, y: 12, class: "clw-row-name" }, y_label),
      s("polyline", { class: "clw-curve", points: points.map(([x, y]) => `${px(x).toFixed(1)},${py(y).toFixed(1)}`).join(" ") }),
      s("line", { class: "clw-cursor", x1: px(now[0]), x2: px(now[0]), y1: T, y2: H }),
      s("circle", { class: "clw-point", cx: px(now[0]), cy: py(now[1]), r: 5 }),
    ],
  };
}

const steps = (control) => control.values
  || Array.from({ length: Math.floor((control.max - control.min) / control.step) + 1 }, (_, i) => String(control.min + i * control.step));

function explorerView({ model, el, signal }) {
  const data = model.get("data");
  const { id, node } = head(model, data.label);
  const settings = () => ({ ...Object.fromEntries(data.controls.map((one) => [one.name, String(one.start)])), ...model.get("settings") });
  const sliders = data.controls.map((control) => {
    const all = steps(control);
    return {
      control, all,
      ...slider(control.name_html || control.label, 0, all.length - 1, (i) => commit(model, { settings: { ...settings(), [control.name]: all[i] } }),
        (i) => (control.labels ? control.labels[i] : `${group(all[i])} ${control.unit || ""}`.trim())),
    };
  });
  const sentence = h("p", { class: "clw-sentence", "aria-live": "polite" });
  const figure = data.draw ? drawing(signal, (width) => DRAWINGS[data.draw.type](data, valuesOf(data, settings()), width, settings())) : null;
  const key = data.draw?.parts ? h("p", { class: "clw-legend", "aria-hidden": "true" },
    data.draw.parts.map((part) => h("span", {}, h("i", { "data-role": part.role, class: part.free ? "clw-free-key" : null }, part.letter || ROLES[part.role][0]), " ", part.label))) : null;
  lay(el, model.get("kind"), id, node, h("div", { class: "clw-question", html: data.question }),
    h("div", { class: "clw-controls" }, sliders.map(({ row }) => row)), figure?.box || null, key, sentence, data.table ? folded(data) : null);
  const update = () => {
    const now = settings();
    const names = valuesOf(data, now);
    for (const { control, all, set } of sliders) set(Math.max(all.indexOf(String(now[control.name])), 0));
    const said = data.sentences.find(([when]) => when === null || evaluate(when, names).n) || [null, ""];
    sentence.innerHTML = fill(said[1], names, data.digits);
    figure?.redraw();
  };
  follow(model, ["settings"], soonAfter(update), signal);
}
