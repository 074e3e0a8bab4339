// When does each message leave? The real costs of a chat, replies stretched, exact integer arithmetic.

// costs: units of each message, user and reply in turn; replies are stretched by `stretch` percent, rounded down.
function dropTable(costs, room, stretch) {
  const prefix = [0];
  costs.forEach((cost, i) => prefix.push(prefix[i] + (i % 2 ? Math.floor((cost * stretch) / 100) : cost)));
  const turns = costs.length / 2;
  const first = []; // first[t - 1]: index of the oldest message in request t
  let start = 0;
  for (let turn = 1; turn <= turns; turn++) {
    const stop = 2 * turn - 1; // request t holds t - 1 whole turns and one user message
    while (start < stop && prefix[stop] - prefix[start] > room) start += 1;
    first.push(start);
  }
  return { first, prefix };
}
// The first request without message i, or null when it is still there in the last one.
function dropTurn({ first }, i) {
  const gone = first.findIndex((start) => start > i);
  return gone < 0 ? null : gone + 1;
}

// How much of the conversation is drawn: enough to see what happens before and after the name leaves.
const HORIZONS = [40, 80];
const horizon = (gone) => HORIZONS.find((one) => gone && gone * 1.3 <= one) || 200;

function dropView({ model, el, signal }) {
  const data = model.get("data");
  const { costs, fixed, unit } = data;
  const turns = costs.length / 2;
  const { id, node } = head(model, data.label);
  const settings = () => ({ budget: data.start[0], reserve: data.start[1], stretch: data.start[2], request: 0, ...model.get("settings") });
  const scale = (name, values, label, say) => {
    const one = slider(label, 0, values.length - 1, (i) => commit(model, { settings: { ...settings(), [name]: values[i] } }), (i) => say(values[i]));
    return { name, values, ...one };
  };
  const sliders = [
    scale("budget", data.budgets, "Input budget", (value) => `${group(value)}`),
    scale("reserve", data.reserves, "Reply reserve", (value) => `${group(value)}`),
    scale("stretch", data.stretches, "Length of replies", (value) => `${value} %`),
  ];
  const scan = slider("Request", 1, turns, (value) => commit(model, { settings: { ...settings(), request: value } }), (value) => `${group(value)}`);

  let table = null;
  let tableFor = "";
  const result = () => {
    const { budget, reserve, stretch } = settings();
    const key = `${budget}|${reserve}|${stretch}`;
    if (key !== tableFor) {
      table = dropTable(costs, Math.max(budget - fixed - reserve, 0), stretch);
      tableFor = key;
    }
    return table;
  };
  const shown = () => {
    const { request } = settings();
    const gone = dropTurn(result(), 0);
    return Math.min(request || gone || turns, horizon(gone));
  };

  // The band: each request is a column of the messages that it holds. The line on top is the life of the name.
  const [L, T, H] = [46, 40, 236];
  const across = () => horizon(dropTurn(result(), 0));
  const figure = drawing(signal, (width) => {
    const R = width - 10;
    const last = across();
    const all = 2 * last;
    const { first } = result();
    const gone = dropTurn(result(), 0);
    const request = shown();
    const px = (turn) => L + ((turn - 0.5) / last) * (R - L);
    const py = (message) => T + (message / all) * (H - T);
    const stairs = (value) => Array.from({ length: last }, (_, i) => i + 1)
      .flatMap((turn) => [[turn - 0.5, value(turn)], [turn + 0.5, value(turn)]])
      .map(([turn, message]) => `${px(turn).toFixed(1)},${py(message).toFixed(1)}`);
    const upper = stairs((turn) => first[turn - 1]);
    const lower = stairs((turn) => 2 * turn - 1).reverse();
    const end = gone ? gone - 0.5 : last + 0.5;
    const start = first[request - 1];
    const stop = 2 * request - 1;
    const children = [
      ...[0, all / 2, all].map((m) => s("line", { class: "clw-grid", x1: L, x2: R, y1: py(m), y2: py(m) })),
      ...[1, all / 2, all].map((m) => s("text", { class: "clw-end", x: L - 8, y: py(m) + 4 }, group(m))),
      s("text", { class: "clw-row-name", x: 2, y: 12 }, "Message"),
      ...[1, last / 4, last / 2, (3 * last) / 4, last].map((t) => s("text", { class: "clw-under", x: px(t), y: H + 16 }, group(Math.round(t)))),
      s("text", { class: "clw-under clw-row-name", x: (L + R) / 2, y: H + 33 }, `Request (the first ${group(last)} of ${group(turns)})`),
      s("polygon", { class: "clw-band", points: [...upper, ...lower].join(" ") }),
      s("line", { class: "clw-life", x1: px(0.5), x2: px(end), y1: py(0) + 1, y2: py(0) + 1 }),
      s("line", { class: "clw-cursor", x1: px(request), x2: px(request), y1: T - 6, y2: H }),
      s("line", { class: "clw-slice", x1: px(request), x2: px(request), y1: py(start), y2: py(stop) }),
    ];
    if (gone) {
      const flip = px(gone) > R - 170;
      children.push(s("circle", { class: "clw-point", cx: px(end), cy: py(0) + 1, r: 4.5 }),
        s("text", { class: flip ? "clw-end clw-strong" : "clw-strong", x: px(end) + (flip ? -9 : 9), y: py(0) - 8 }, `${data.fact_label} leaves: request ${group(gone)}`));
    } else children.push(s("text", { class: "clw-end clw-strong", x: R, y: py(0) - 8 }, `${data.fact_label} never leaves`));
    return { children, height: H + 40 };
  });

  // The request as a strip: the room as a frame, what left just before it hatched.
  const strip = drawing(signal, (width) => {
    const { first, prefix } = result();
    const now = settings();
    const room = Math.max(now.budget - fixed - now.reserve, 1);
    const request = shown();
    const stop = 2 * request - 1;
    const outside = width * 0.16;
    const scale = (width - 4 - outside) / room;
    const right = width - 2;
    const { id: hatchId, defs } = hatch();
    const children = [defs, s("text", { x: 2, y: 12, class: "clw-row-name" }, `Request ${group(request)}; the frame is the room`)];
    // Hundreds of blocks: one path for each role, and one for what left.
    const paths = { user: "", assistant: "", left: "" };
    const letters = [];
    for (let i = stop - 1; i >= 0; i--) {
      const x = right - (prefix[stop] - prefix[i]) * scale;
      const wide = (prefix[i + 1] - prefix[i]) * scale;
      if (x + wide < 0) break;
      const role = i % 2 ? "assistant" : "user";
      const inner = Math.max(wide - GAP, 0.8);
      paths[i < first[request - 1] ? "left" : role] += `M${x.toFixed(1)} 26h${inner.toFixed(1)}v30h-${inner.toFixed(1)}z`;
      if (inner >= 13) letters.push(s("g", { "data-role": role, class: i < first[request - 1] ? "clw-left" : null },
        s("text", { x: x + inner / 2, y: 45, class: "clw-letter" }, ROLES[role][0])));
    }
    children.push(
      s("g", { "data-role": "user" }, s("path", { d: paths.user, class: "clw-fill" })),
      s("g", { "data-role": "assistant" }, s("path", { d: paths.assistant, class: "clw-fill" })),
      s("g", { class: "clw-left" }, s("path", { d: paths.left, class: "clw-fill" }), s("path", { d: paths.left, class: "clw-gone", fill: `url(#${hatchId})` })),
      ...letters);
    children.push(s("rect", { class: "clw-window", x: right - room * scale - 1, y: 21, width: room * scale + 2, height: 40, rx: 2 }));
    return { children, height: 66 };
  });
  figure.box.addEventListener("pointerdown", (event) => {
    const box = figure.svg.getBoundingClientRect();
    const pick = (at) => {
      const turn = Math.round(((at.clientX - box.left - L) / (box.width - 10 - L)) * across() + 0.5);
      commit(model, { settings: { ...settings(), request: Math.min(Math.max(turn, 1), across()) } });
    };
    pick(event);
    const end = () => figure.box.removeEventListener("pointermove", pick);
    figure.box.addEventListener("pointermove", pick);
    addEventListener("pointerup", end, { once: true });
    addEventListener("pointercancel", end, { once: true });
  });
  figure.box.classList.add("clw-draggable");

  const sentence = h("p", { class: "clw-sentence", "aria-live": "polite" });
  const step = h("p", { class: "clw-sentence" });
  const list = scroller("When each message leaves");
  const details = h("details", { class: "clw-solution", ontoggle: () => details.open && fillList() },
    h("summary", {}, "When each message leaves, as a table"), list);
  function fillList() {
    const now = result();
    const rows = [];
    for (let i = 0; i < costs.length; i++) {
      const gone = dropTurn(now, i);
      if (gone === null) break;
      rows.push([group(i + 1), `${i % 2 ? "reply" : "user"}, turn ${Math.floor(i / 2) + 1}`, group(now.prefix[i + 1] - now.prefix[i]), group(gone)]);
    }
    list.replaceChildren(rows.length
      ? tableOf({ head: ["Message", "Who", `Size (${unit})`, "First request without it"], rows })
      : h("p", {}, "No message leaves with these settings."));
  }
  lay(el, "drop", id, node, h("div", { class: "clw-question", html: data.question }),
    h("div", { class: "clw-controls" }, sliders.map(({ row }) => row)), sentence, figure.box, h("div", { class: "clw-controls" }, scan.row), strip.box, step, details,
    folded(data, "Chosen settings, as a table"));

  follow(model, ["settings"], soonAfter(() => {
    const now = settings();
    for (const { name, values, set } of sliders) set(Math.max(values.indexOf(now[name]), 0));
    const { first, prefix } = result();
    const room = now.budget - fixed - now.reserve;
    const gone = dropTurn(result(), 0);
    sentence.innerHTML = `${group(now.budget)} − ${group(fixed)} fixed` + (now.reserve ? ` − ${group(now.reserve)} for the reply` : "")
      + ` leaves a room of <b>${group(room)}</b> ${unit}. `
      + (gone ? `${data.fact_sentence} <b>request ${group(gone)}</b>.` : `Within ${turns} turns the first message never leaves.`);
    const request = shown();
    scan.input.max = horizon(gone);
    scan.set(request);
    const start = first[request - 1];
    const before = request > 1 ? first[request - 2] : 0;
    const stop = 2 * request - 1;
    const left = start - before;
    const names = left === 1 ? `message ${group(start)} leaves` : `messages ${group(before + 1)} ${left === 2 ? "and" : "to"} ${group(start)} leave`;
    step.innerHTML = `Request ${group(request)} holds messages ${group(start + 1)} to ${group(stop)}: <b>${group(stop - start)}</b> of ${group(stop)}, `
      + `${group(prefix[stop] - prefix[start])} ${unit}. ` + (left ? `Here ${names}.` : "No message leaves here.");
    figure.redraw();
    strip.redraw();
    if (details.open) fillList();
  }), signal);
}

// For the tests: the first drop turn that Python and this module do not agree on, or null.
function dropDisagreement(data) {
  for (const [budget, reserve, stretch, message, wanted] of data.checks) {
    const got = dropTurn(dropTable(data.costs, budget - data.fixed - reserve, stretch), message);
    if (got !== wanted) return { budget, reserve, stretch, message, wanted, got };
  }
  return null;
}
