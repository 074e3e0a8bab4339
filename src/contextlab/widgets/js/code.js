// A task for code. With a kernel it is answered in a cell and checked by Python; without one the lines of a solution
// are put in order, and in some lines one of several forms is chosen.

// The text of the program as it stands: equal lines may change places.
const program = (answer, task) => answer.order.map((line) => {
  const { text, forms } = task.lines[line];
  return forms ? text.replace("\u25a1", forms[answer.picks[line]]) : text;
});

function gradeCode(answer, task) {
  if (answer.python) return { right: answer.right, html: answer.says, slip: answer.slip || "" };
  const shape = (one) => one.order.map((line) => task.lines[line].text);
  const right = { order: task.right, picks: task.picks };
  const given = shape(answer);
  const wanted = shape(right);
  const place = given.findIndex((text, i) => text !== wanted[i]);
  if (place >= 0) {
    const good = place === 0 ? "" : place === 1 ? "Line 1 is right. " : `Lines 1 to ${place} are right. `;
    return { right: false, html: `${good}Line ${place + 1} is not right yet. ${task.tip || ""}`, slip: "" };
  }
  for (const [line, pick] of Object.entries(task.picks)) {
    const chosen = answer.picks[line];
    if (chosen !== pick) return { right: false, html: task.lines[line].says[chosen], slip: task.lines[line].slips[chosen] };
  }
  return { right: true, html: task.praise, slip: "" };
}

function codeView(view) {
  const { model } = view;
  const data = model.get("data");
  const page = model instanceof PageModel;
  const selects = new Map();
  const picks = () => Object.fromEntries([...selects].map(([line, select]) => [line, Number(select.value)]));
  const lines = data.lines.map((line, i) => {
    const code = h("code", {});
    const [before, after] = line.text.split("\u25a1");
    code.append(before);
    if (line.forms) {
      const select = h("select", { class: "clw-form-pick", "aria-label": "Form in this line", onchange: () => commit(model, { draft: now() }) },
        h("option", { value: -1 }, "…"), line.forms.map((form, k) => h("option", { value: k }, form)));
      selects.set(i, select);
      code.append(select, after);
    }
    return code;
  });
  // Equal lines at another depth are told apart by it.
  const bare = data.lines.map((line) => line.text.trim().replace("\u25a1", "…"));
  const names = bare.map((text, i) => (bare.indexOf(text) === bare.lastIndexOf(text) ? text
    : `${text}, ${data.lines[i].text.search(/\S/) / 4} levels in`));
  const sort = sortable(lines, names, (order) => commit(model, { draft: { order, picks: picks() } }));
  const now = () => ({ order: sort.order, picks: picks() });
  sort.node.querySelector("ol").classList.add("clw-code");
  const puzzle = h("div", {}, h("p", { class: "clw-small" }, data.puzzle), sort.node);
  const input = page ? puzzle : h("div", {},
    h("p", {}, "Write it in a cell, then run ", h("code", {}, data.call), " in another one."),
    h("details", { class: "clw-solution" }, h("summary", {}, "Or put the lines of a solution in order"), puzzle));
  const set = (answer) => {
    if (!answer || answer.python) {
      for (const select of selects.values()) select.value = "-1";
      return sort.set(null);
    }
    sort.set(answer.order);
    for (const [line, select] of selects) select.value = String(answer.picks?.[line] ?? -1);
  };
  exerciseView(view, {
    input,
    verb: page ? "Check" : "Check the order",
    read: () => (Object.values(picks()).includes(-1) ? { ask: "Some lines have a gap. Choose a form in each of them first." } : now()),
    grade: gradeCode,
    fits: (answer) => Boolean(answer?.python) || (isOrder(answer?.order, data.lines.length)
      && [...selects.keys()].every((line) => answer.picks?.[line] === -1 || answer.picks?.[line] in data.lines[line].forms)),
    show: (answer, draft) => set(draft),
  });
}
