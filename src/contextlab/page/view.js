// The step-through of a trace: two strips, the facts, what was sent. The page of the site and that of the command use it.
// trace: contextlab.forgotten as JSON, with `blocks`: [role, units, turn, text] of each message of the history.

const LONG_TABLE = 2000; // rows
const row = (...cells) => cells;
function plainTable(caption, head, rows) {
  return h("table", { class: "clw-table" }, h("caption", { class: "clw-sr" }, caption),
    h("thead", {}, h("tr", {}, head.map(([name, words]) => h("th", { scope: "col", class: words && "clw-words" }, name)))),
    h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, i) =>
      h(i ? "td" : "th", { scope: i ? null : "row", class: head[i][1] && "clw-words" }, cell))))));
}
// A table that is made when it is opened.
function foldedTable(name, caption, head, rows) {
  const box = scroller(caption);
  const node = h("details", { class: "clw-solution", ontoggle: () => node.open && fill() }, h("summary", {}, name), box);
  function fill() {
    const all = rows();
    box.replaceChildren(plainTable(caption, head, all.slice(0, LONG_TABLE)),
      all.length > LONG_TABLE ? h("p", { class: "clw-small" }, `The first ${group(LONG_TABLE)} of ${group(all.length)} rows.`) : "");
  }
  return { node, refresh: () => node.open && fill() };
}
const inWords = (turns) => (turns.length ? turns.slice(0, 6).map(group).join(", ") + (turns.length > 6 ? " …" : "") : "\u2013");
// The first code points of a text on one line.
function shortened(text, most) {
  const signs = [...text.slice(0, 3 * most).replace(/\s+/g, " ").trim()];
  return signs.length > most ? `${signs.slice(0, most - 1).join("")}…` : signs.join("");
}
const kindOf = (role) => (role === "system" || role === "developer" ? "instructions" : role in ROLES ? role : "tool");
const nameOf = (fact) => (fact.key === null || fact.key === "first message" ? shortened(fact.text, 48) : `${fact.key}: ${shortened(fact.text, 36)}`);
const quoted = (fact) => (fact.key === "first message" ? "The first message" : `“${shortened(fact.text, 40)}”`);

function traceView(el, trace) {
  const { blocks, unit, fixed_units } = trace;
  const prefix = [0];
  for (const [, units] of blocks) prefix.push(prefix.at(-1) + units);
  const asked = blocks.flatMap(([role], i) => (role === "user" ? [i] : []));
  let at = 0; // index of the window
  let chosen = 0; // index of the fact
  let request = 0;
  const now = () => trace.windows[at];
  const fact = () => now().facts[chosen];
  const startOf = (turn) => now().requests[turn - 1].messages_dropped;
  const visible = (turn, one = fact()) => one.messages.some((i) => i >= startOf(turn) && i <= asked[turn - 1]);

  // The window and the request.
  const pick = h("select", { id: newId("window"), class: "clw-form-pick", onchange: () => {
    at = Number(pick.value);
    request = opening();
    show();
  } }, trace.windows.map((one, i) => h("option", { value: i }, `${group(one.window)} ${unit}`)));
  const control = slider("Request", 1, 1, (value) => go(value), (value) => `${group(value)} of ${group(asked.length)}`);
  control.input.max = asked.length;
  const go = (value) => {
    request = Math.min(Math.max(value, 1), asked.length);
    show();
  };
  const losses = () => now().requests.filter((one, i) => i && one.messages_dropped > now().requests[i - 1].messages_dropped).map((one) => one.turn);
  const back = button("Back", () => go(request - 1));
  const forward = button("Step", () => go(request + 1), { class: "clw-button clw-main" });
  const next = button("Next loss", () => go(losses().find((turn) => turn > request) ?? request));
  const opening = () => fact().drop_turn ?? losses()[0] ?? asked.length;

  // The strips: one path a role, because a chat may have thousands of blocks.
  const ROW = 30;
  const figure = drawing(null, (width) => {
    const start = startOf(request);
    const stop = asked[request - 1] + 1;
    // The screen fills the width as soon as it holds more than the window; until then the frame has its place.
    const scale = (width - 4) / Math.max(prefix[stop], now().room, 1);
    const { id, defs } = hatch();
    const [y1, y2] = [46, 46 + ROW + 62];
    const shapes = { 1: {}, 2: {} };
    const letters = [];
    for (let i = 0; i < stop; i++) {
      const [role, units] = blocks[i];
      const x = 2 + prefix[i] * scale;
      const wide = Math.max(units * scale - GAP, 0.8);
      const kind = kindOf(role);
      for (const [strip, y] of [[1, y1], [2, y2]]) {
        const name = strip === 2 && i < start ? "left" : kind;
        shapes[strip][name] = (shapes[strip][name] || "") + `M${x.toFixed(1)} ${y}h${wide.toFixed(1)}v${ROW}h-${wide.toFixed(1)}z`;
        if (wide >= 13) letters.push(s("g", { "data-role": kind, class: name === "left" ? "clw-left" : null },
          s("text", { x: x + wide / 2, y: y + ROW / 2 + 4.2, class: "clw-letter" }, ROLES[kind][0])));
      }
    }
    const paths = [1, 2].flatMap((strip) => Object.entries(shapes[strip]).map(([role, d]) => (role === "left"
      ? s("g", { class: "clw-left" }, s("path", { d, class: "clw-fill" }), s("path", { d, class: "clw-gone", fill: `url(#${id})` }))
      : s("g", { "data-role": role }, s("path", { d, class: "clw-fill" })))));
    const right = 2 + prefix[stop] * scale;
    const left = Math.max(right - now().room * scale, 0.75);
    const held = fact().messages.filter((i) => i < stop);
    const flags = held.flatMap((i) => [y1, y2].map((y) => {
      const x = 2 + (prefix[i] + Math.min(blocks[i][1] / 2, 4 / scale)) * scale;
      return s("g", { class: "clw-flag" }, s("line", { x1: x, x2: x, y1: y - 11, y2: y - 1 }));
    }));
    const name = (y, text, gone) => {
      const x = held.length ? 2 + prefix[held[0]] * scale : 2;
      const end = x > width / 2;
      return s("g", { class: `clw-flag ${gone ? "clw-flag-gone" : ""}` },
        s("text", { x: end ? Math.min(x + 8, width - 2) : x, y: y - 14, class: end ? "clw-end clw-strong" : null }, text));
    };
    const label = shortened(nameOf(fact()), width < 500 ? 22 : 44);
    return {
      children: [defs,
        s("text", { x: 2, y: 12, class: "clw-row-name" }, "On your screen"),
        s("text", { x: 2, y: y2 - 36, class: "clw-row-name" }, "In the request; the frame is the window"),
        ...paths, ...letters, ...flags,
        ...(held.length ? [name(y1, label), name(y2, visible(request) ? label : `${shortened(label, 30)}: not sent`, !visible(request))] : []),
        s("rect", { class: "clw-window", x: left, y: y2 - 6, width: right - left + 2, height: ROW + 12, rx: 2 })],
      height: y2 + ROW + 10,
    };
  });
  const sentence = h("p", { class: "clw-sentence", "aria-live": "polite" });
  const leaving = h("ul", { class: "clw-list" });
  const sums = h("p", {});
  const facts = scroller("What was said, and when it leaves");
  const others = h("div", {});

  const requests = foldedTable("Every request as a table", "Every request in this window",
    [["Request"], [`Input (${unit})`], ["Messages sent"], ["Left out"], ["From turn"]],
    () => now().requests.map((one) => row(group(one.turn), one.fits ? group(one.input_units) : "does not fit", group(one.messages_kept), group(one.messages_dropped), one.oldest_turn_kept === null ? "\u2013" : group(one.oldest_turn_kept))));
  const messages = foldedTable("When each message leaves, as a table", "The messages, and the first request without each",
    [["Message"], ["Who", true], ["Turn"], [`Size (${unit})`], ["First request without it"], ["It begins", true]],
    () => {
      const gone = [];
      now().requests.forEach((one) => {
        while (gone.length < one.messages_dropped) gone.push(one.turn);
      });
      return blocks.map(([role, units, turn, text], i) => row(group(i + 1), role, group(turn), group(units), gone[i] ? group(gone[i]) : "never", shortened(text, 60)));
    });

  const id = newId("trace");
  el.replaceChildren(h("div", { class: "clw clw-live", role: "group", "data-kind": "trace", "aria-labelledby": id },
    h("p", { class: "clw-title", id }, trace.title || "A conversation without a title"),
    h("p", { class: "clw-small" }, `${plural(trace.messages, "message")} in ${plural(trace.turns, "turn")}, ${group(trace.units)} ${unit}`
      + ` (counter: ${trace.counter}); ${group(fixed_units)} more in every request.`),
    h("div", { class: "clw-row" }, h("label", { for: pick.id }, "Context window"), pick),
    facts,
    h("div", { class: "clw-controls" }, control.row),
    h("div", { class: "clw-actions" }, back, forward, next),
    figure.box, legend([...new Set(blocks.map(([role]) => kindOf(role)))], h("span", {}, "hatched: left out")),
    sentence, leaving, sums, others, requests.node, messages.node));

  let factsOf = null;
  function showFacts() {
    if (factsOf === `${at} ${chosen}`) return;
    factsOf = `${at} ${chosen}`;
    const choose = (i) => h("button", { type: "button", class: "clw-pick", "aria-pressed": String(i === chosen), onclick: () => {
      chosen = i;
      request = opening();
      show();
      facts.querySelectorAll("button")[i].focus();
    } }, nameOf(now().facts[i]));
    facts.replaceChildren(plainTable("What was said, and the first request without it",
      [["What was said", true], ["Said in turn"], ["Gone at request"], ["Back at request"], ["Again in turn"], ["Pin"]],
      now().facts.map((one, i) => row(choose(i),
        one.said_turn === null ? "not said" : group(one.said_turn) + (one.replaced_turn ? `, until ${group(one.replaced_turn)}` : ""),
        one.drop_turn === null ? (one.said_turn === null ? "\u2013" : "never") : group(one.drop_turn),
        inWords(one.back_turns), inWords(one.said_again_turns), group(one.pin_units)))), h("p", { class: "clw-small" },
      `Gone: the first request without it. Again: the user comes back to it while the request no longer holds it. Pin: ${unit} that a pinned note of it adds to each request.`));
  }
  function show() {
    const window = now();
    const one = window.requests[request - 1];
    const stop = asked[request - 1] + 1;
    const before = request > 1 ? startOf(request - 1) : 0;
    control.set(request);
    showFacts();
    const isSaid = fact().messages.length && fact().messages[0] < stop;
    const state = !isSaid ? `${quoted(fact())} is not said yet.` : `${quoted(fact())} is ${visible(request) ? "" : "not "}in it.`;
    sentence.replaceChildren(one.fits
      ? `Request ${group(request)} sends ${group(one.messages_kept)} of the ${plural(stop, "message")} on your screen: `
        + `${group(one.input_units)} of ${group(window.window - window.reply_reserve)} ${unit}. ${state}`
      : `Request ${group(request)} cannot be sent: its user message alone has ${group(blocks[stop - 1][1])} ${unit}, and the room is ${group(window.room)}.`);
    const gone = one.fits ? blocks.slice(before, one.messages_dropped) : [];
    leaving.replaceChildren(...gone.slice(0, 5).map(([role, units, turn, text]) =>
      h("li", {}, `Leaves here: ${role}, turn ${group(turn)}, ${group(units)} ${unit}: ${shortened(text, 100)}`)),
    ...(gone.length > 5 ? [h("li", {}, `and ${group(gone.length - 5)} more`)] : []));
    sums.textContent = `Over the whole chat ${group(window.sent_units)} ${unit} are sent; ${group(window.resent_units)} of them had been sent before.`;
    others.replaceChildren(...(window.instead || []).length ? [scroller("What other ways would have sent", plainTable("What other ways would have sent",
      [["In place of keep-newest", true], [`Sent (${unit})`], ["Saved"], ["Read to write it"], ["Written"]],
      window.instead.map((way) => row(way.name, ...(way.why ? ["does not fit", "\u2013", "\u2013", "\u2013"]
        : [way.sent_units, way.saved_units, way.read_units, way.written_units].map(group))))))] : []);
    figure.redraw();
    requests.refresh();
    messages.refresh();
  }
  request = opening();
  show();
  return { go, show };
}
