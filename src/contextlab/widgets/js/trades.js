// All policies of the comparison: what a chat costs, how often the right value is visible, and the line of best trades.

// The bill in ten-thousandths of a unit: whole numbers, as in Python.
const tradeBill = ([, , sent, computed, own], price) => 100 * (computed + own) + price * (sent - computed);

// The places of the points that are drawn, and of those that no other beats, the cheapest first.
function tradeLine(data, budget, price, count) {
  const wanted = data.budgets[budget][1];
  const share = (at) => data.points[at][5 + count][0] / data.points[at][5 + count][1];
  const bill = (at) => tradeBill(data.points[at], data.prices[price]);
  const shown = data.points.map((_, at) => at).filter((at) => !wanted.length || wanted.includes(data.points[at][1]));
  const line = [];
  for (const at of [...shown].sort((a, b) => bill(a) - bill(b) || share(b) - share(a) || a - b)) {
    if (!line.length || share(at) > share(line.at(-1))) line.push(at);
  }
  return { shown, line, share, bill };
}

function tradesView({ model, el, signal }) {
  const data = model.get("data");
  const { id, node } = head(model, data.label);
  const settings = () => ({ budget: data.start[0], price: data.start[1], count: data.start[2], ...model.get("settings") });
  const scale = (name, label, values) => ({
    name,
    ...slider(label, 0, values.length - 1, (i) => commit(model, { settings: { ...settings(), [name]: i } }), (i) => values[i]),
  });
  const sliders = [
    scale("budget", "Input budget", data.budgets.map(([label]) => label)),
    scale("price", "Price of a cached unit", data.prices.map((price) => `${price} % of the full price`)),
    scale("count", "What counts", data.counts),
  ];
  const now = () => {
    const { budget, price, count } = settings();
    return tradeLine(data, budget, price, count);
  };
  const called = (at) => `${data.names[data.points[at][0]]}, ${group(data.points[at][1])}`;
  const percent = (share) => `${Math.round(100 * share)} %`;
  const units = (bill) => group(Math.round(bill / 10000));

  const [L, T, H] = [52, 30, 300];
  const figure = drawing(signal, (width) => {
    const { shown, line, share, bill } = now();
    const R = width - 14;
    const all = shown.map((at) => Math.log10(bill(at)));
    const [low, high] = [Math.min(...all) - 0.05, Math.max(...all) + 0.05];
    const px = (at) => L + ((Math.log10(bill(at)) - low) / (high - low)) * (R - L);
    const py = (at) => H - share(at) * (H - T);
    const ticks = [3, 4, 5, 6, 7].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power))
      .filter((cost) => Math.log10(cost * 10000) >= low && Math.log10(cost * 10000) <= high);
    const x = (cost) => L + ((Math.log10(cost * 10000) - low) / (high - low)) * (R - L);
    const mark = (at) => {
      const [, budget] = data.points[at];
      const on = line.includes(at) ? "clw-trade clw-trade-on" : "clw-trade";
      if (budget > 8000) return s("rect", { class: `${on} clw-trade-open`, x: px(at) - 4.5, y: py(at) - 4.5, width: 9, height: 9 });
      return s("circle", { class: budget > 4000 ? `${on} clw-trade-open` : on, cx: px(at), cy: py(at), r: 5 });
    };
    return {
      height: H + 40,
      children: [
        s("text", { class: "clw-row-name", x: 2, y: 12 }, data.counts[settings().count]),
        ...[0, 0.5, 1].map((y) => s("line", { class: "clw-grid", x1: L, x2: R, y1: H - y * (H - T), y2: H - y * (H - T) })),
        ...[0, 0.5, 1].map((y) => s("text", { class: "clw-end", x: L - 8, y: H - y * (H - T) + 4 }, percent(y))),
        ...ticks.map((cost) => s("text", { class: "clw-under", x: x(cost), y: H + 18 }, `${group(cost / 1000)}k`)),
        s("text", { class: "clw-end", x: R, y: H + 36 }, "cost of a chat (units at the full price)"),
        s("polyline", { class: "clw-curve", points: line.map((at) => `${px(at).toFixed(1)},${py(at).toFixed(1)}`).join(" ") }),
        ...shown.map(mark),
        ...line.map((at, i) => s("text", { class: "clw-under clw-strong", x: px(at), y: py(at) - 9 }, String.fromCharCode(65 + i))),
      ],
    };
  });
  const key = h("p", { class: "clw-legend", "aria-hidden": "true" }, "● 4,000   ○ 8,000   □ 16,000 and 32,000");
  const sentence = h("p", { class: "clw-sentence", "aria-live": "polite" });
  const list = scroller("All points");
  const details = h("details", { class: "clw-solution" }, h("summary", {}, "All points as a table, the cheapest first"), list);
  lay(el, "trades", id, node, h("div", { class: "clw-question", html: data.question }),
    h("div", { class: "clw-controls" }, sliders.map(({ row }) => row)), figure.box, key, sentence, details, folded(data));

  follow(model, ["settings"], soonAfter(() => {
    const { shown, line, share, bill } = now();
    for (const { name, set } of sliders) set(settings()[name]);
    const parts = line.map((at, i) => `<b>${String.fromCharCode(65 + i)}</b> ${called(at)} (${percent(share(at))}, ${units(bill(at))} units)`);
    sentence.innerHTML = `On the line, the cheapest first: ${parts.join("; ")}.`;
    list.replaceChildren(tableOf({
      head: ["Policy and budget", "Share", "Bill", "On the line"],
      rows: [...shown].sort((a, b) => bill(a) - bill(b) || share(b) - share(a) || a - b)
        .map((at) => [called(at), percent(share(at)), units(bill(at)), line.includes(at) ? String.fromCharCode(65 + line.indexOf(at)) : "no"]),
    }));
    figure.redraw();
  }), signal);
}

// For the tests: the first setting whose line Python and this module do not agree on, or null.
function tradesDisagreement(data) {
  for (const [budget, price, count, wanted] of data.checks) {
    const { line } = tradeLine(data, budget, price, count);
    if (!same(line, wanted)) return { budget, price, count, wanted, got: line };
  }
  return null;
}
