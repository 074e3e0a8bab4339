// Two strips under one slider: on your screen, and in the request.

function stripsView({ model, el, signal }) {
  const data = model.get("data");
  const { messages, requests, unit, fact, budget } = data;
  const { id, node } = head(model, data.label);
  const last = requests.length;
  const total = messages.reduce((sum, [, units]) => sum + units, 0);
  const at = () => Math.min(Math.max(model.get("settings").request || data.start, 1), last);
  let screen = [];
  let sent = [];
  let frame = null;
  let marks = null;

  const ROW = 30;
  const figure = drawing(signal, (width) => {
    const scale = (width - 4) / total;
    const { id: hatchId, defs } = hatch();
    const y1 = 46;
    const y2 = y1 + ROW + 62;
    let x = 2;
    const places = messages.map(([role, units]) => {
      const place = [role, x, units * scale];
      x += units * scale;
      return place;
    });
    const strip = (y) => places.map(([role, left, wide]) => block(role, left, wide, y, ROW, hatchId));
    screen = strip(y1);
    sent = strip(y2);
    frame = s("rect", { class: "clw-window", y: y2 - 6, height: ROW + 12, rx: 2 });
    const [, fx, fw] = places[fact];
    const flag = (y, text, cls) => s("g", { class: `clw-flag ${cls}` },
      s("line", { x1: fx + Math.min(fw, 8) / 2, x2: fx + Math.min(fw, 8) / 2, y1: y - 11, y2: y - 1 }),
      s("text", { x: fx, y: y - 14 }, text));
    marks = { there: flag(y2, data.fact_label, ""), gone: flag(y2, `${data.fact_label}: not sent`, "clw-flag-gone") };
    figure.places = places;
    figure.scale = scale;
    const children = [defs,
      s("text", { x: 2, y: 12, class: "clw-row-name" }, "On your screen"),
      s("text", { x: 2, y: y2 - 36, class: "clw-row-name" }, "In the request"),
      flag(y1, data.fact_label, ""), ...screen, ...sent, marks.there, marks.gone, frame];
    queueMicrotask(show);
    return { children, height: y2 + ROW + 10 };
  });

  const sentence = h("p", { class: "clw-sentence", "aria-live": "polite" });
  const control = slider(data.control, 1, last, (value) => {
    commit(model, { settings: { ...model.get("settings"), request: value } });
  }, (value) => `${data.step_name} ${group(value)}`);
  lay(el, "strips", id, node, h("div", { class: "clw-question", html: data.question }), h("div", { class: "clw-controls" }, control.row), figure.box,
    legend([...new Set(messages.map(([role]) => role))]), sentence, folded(data));

  function show() {
    const request = at();
    const { lead = 0, start, stop, units } = requests[request - 1];
    const inside = (i) => i < stop && (i >= start || i < lead);
    control.set(request);
    if (!frame) return;
    messages.forEach((_, i) => {
      screen[i].classList.toggle("clw-ahead", i >= stop);
      sent[i].classList.toggle("clw-ahead", i >= stop);
      sent[i].classList.toggle("clw-left", i < stop && !inside(i));
    });
    const [, x, wide] = figure.places[stop - 1];
    const right = x + wide + 1;
    const room = (budget - (data.fixed || 0)) * figure.scale;
    const left = Math.max(right - room, 0.75);
    frame.setAttribute("x", left);
    frame.setAttribute("width", right - left + 2);
    const visible = inside(fact);
    marks.there.style.display = visible ? "" : "none";
    marks.gone.style.display = visible ? "none" : "";
    const kept = messages.reduce((count, _, i) => count + (inside(i) ? 1 : 0), 0);
    const away = stop - kept;
    sentence.innerHTML = `${data.step_name} ${group(request)} sends <b>${group(kept)}</b> of the ${plural(stop, "message")} on your screen: `
      + `<b>${group(units)}</b> of ${group(budget)} ${unit}. `
      + (visible ? `${data.fact_sentence[0]}` : `${data.fact_sentence[1]}`)
      + (away ? ` ${plural(away, "message")} ${away === 1 ? "has" : "have"} left.` : " Nothing has left yet.");
  }
  follow(model, ["settings"], soonAfter(show), signal);
}
