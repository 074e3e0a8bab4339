// The walk from the newest message, step by step, with the table of all steps beside it.

function walkView({ model, el, signal }) {
  const data = model.get("data");
  const { messages, cases } = data;
  const { id, node } = head(model, data.label);
  const which = () => Math.min(model.get("settings").case || 0, cases.length - 1);
  const now = () => cases[which()];
  const at = () => Math.min(Math.max(model.get("step"), 0), now().steps.length);
  const choice = cases.length > 1 ? radios("The rule", cases.map((one, i) => [i, one.name]), (value) => {
    stop();
    commit(model, { settings: { case: value }, step: Math.min(model.get("step"), cases[value].steps.length) });
  }, "clw-choices clw-inline") : null;

  const H = 34;
  const figure = drawing(signal, (width) => {
    const { window: limit, fixed, steps } = now();
    const widest = Math.max(messages.reduce((sum, [, units]) => sum + units, 0), limit);
    const scale = (width - 4) / widest;
    const { id: hatchId, defs } = hatch();
    const step = at();
    const state = new Map();
    steps.slice(0, step).forEach(({ index, kept }) => state.set(index, kept));
    const looking = step ? steps[step - 1].index : null;
    const stopped = step === steps.length;
    const children = [defs, s("text", { x: 2, y: 13, class: "clw-row-name" }, "The conversation, oldest first")];
    let x = 2;
    messages.forEach(([role, units], i) => {
      const shown = block(role, x, units * scale, 22, H, hatchId);
      const kept = state.get(i);
      if (kept === false || (stopped && kept !== true)) shown.classList.add("clw-left");
      children.push(shown, s("text", { x: Math.max(x + (units * scale) / 2, 9), y: 22 + H + 15, class: "clw-under" }, group(units)));
      if (i === looking) children.push(s("rect", { class: "clw-looking", x: x - 1.5, y: 19, width: units * scale + 1.5, height: H + 6 }));
      x += units * scale;
    });
    // The window below: what is taken stands from the right, the newest last, as it is sent.
    const y = 22 + H + 50;
    children.push(s("text", { x: 2, y: y - 12, class: "clw-row-name" }, `The window: ${group(limit)} ${data.unit}`));
    let left = 2;
    for (const part of fixed.filter((one) => one.role !== "reply")) {
      children.push(block(part.role, left, part.units * scale, y, H, hatchId));
      left += part.units * scale;
    }
    const taken = steps.slice(0, step).filter((one) => one.kept).map((one) => one.index).sort((a, b) => a - b);
    for (const i of taken) {
      const [role, units] = messages[i];
      children.push(block(role, left, units * scale, y, H, hatchId));
      left += units * scale;
    }
    let right = 2 + limit * scale;
    for (const part of fixed.filter((one) => one.role === "reply")) {
      right -= part.units * scale;
      children.push(s("rect", { class: "clw-reply", x: right + 1, y: y + 1, width: part.units * scale - 2, height: H - 2 }),
        s("text", { x: right + (part.units * scale) / 2, y: y + H / 2 + 4, class: "clw-under" }, "R"));
    }
    children.push(s("rect", { class: "clw-window", x: 1, y: y - 5, width: limit * scale + 2, height: H + 10, rx: 2 }));
    return { children, height: y + H + 8 };
  });

  const sentence = h("p", { class: "clw-sentence", "aria-live": "polite" });
  const go = (step) => commit(model, { step });
  const back = button("Back", () => { stop(); go(Math.max(at() - 1, 0)); });
  const forward = button("Step", () => { stop(); go(Math.min(at() + 1, now().steps.length)); }, { class: "clw-button clw-main" });
  let timer = null;
  const play = button("Play", () => {
    if (timer) return stop();
    if (at() === now().steps.length) go(0);
    play.textContent = "Pause";
    timer = setInterval(() => {
      go(at() + 1);
      if (at() >= now().steps.length) stop();
    }, 1400);
  });
  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }
  signal?.addEventListener("abort", stop);
  const place = scroller("All steps as a table");
  lay(el, "walk", id, node, h("div", { class: "clw-question", html: data.question }), choice?.node || null, figure.box,
    sentence, h("div", { class: "clw-actions" }, back, forward, play), place);

  let tableFor = null;
  follow(model, ["step", "settings"], soonAfter(() => {
    const step = at();
    if (choice) choice.value = which();
    if (tableFor !== which()) {
      tableFor = which();
      place.replaceChildren(tableOf(now().table));
    }
    [...place.querySelectorAll("tbody tr")].forEach((row, i) => {
      row.classList.toggle("clw-now", i === step - 1);
      row.classList.toggle("clw-later", i >= step);
    });
    back.setAttribute("aria-disabled", step === 0);
    forward.setAttribute("aria-disabled", step === now().steps.length);
    sentence.innerHTML = step === 0 ? now().before : `Step ${step} of ${now().steps.length}. ${now().steps[step - 1].says}`;
    figure.redraw();
  }), signal);
}
