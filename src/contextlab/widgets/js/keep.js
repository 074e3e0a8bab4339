// The messages of a real window with their costs: mark what a rule keeps. The check shows the first step that differs.

function keepView(view) {
  const { model } = view;
  const place = h("div", {});
  const sum = h("p", { class: "clw-sum", "aria-live": "polite" });
  let boxes = [];
  let shownFor = null;
  const chosen = () => boxes.flatMap((box, i) => (box.checked ? [i] : []));
  const drawSum = () => {
    const task = current(model);
    const used = chosen().reduce((total, i) => total + task.messages[i][1], 0);
    const left = task.room - used;
    sum.innerHTML = `Marked: <b>${group(used)}</b> of ${group(task.room)} ${task.unit}, `
      + (left < 0 ? `<b>${group(-left)} too many</b>.` : `${group(left)} left.`);
  };
  const build = (task) => {
    const most = Math.max(...task.messages.map(([, units]) => units));
    boxes = [];
    const rows = task.messages.map(([role, units, text], i) => {
      const box = h("input", { type: "checkbox", id: newId("keep"), onchange: () => {
        drawSum();
        commit(model, { draft: chosen() });
      } });
      boxes.push(box);
      return h("label", { class: "clw-keep", for: box.id, "data-role": role }, box,
        h("i", { "aria-hidden": "true" }, ROLES[role][0]),
        h("span", { class: "clw-keep-text" }, h("span", { html: text || ROLES[role][1] })),
        h("span", { class: "clw-keep-bar", "aria-hidden": "true", style: `width:${(units / most) * 100}%` }),
        h("span", { class: "clw-keep-units" }, group(units)));
    });
    place.replaceChildren(h("fieldset", { class: "clw-keeps" },
      h("legend", {}, task.ask || "The newest message is the last one."), rows), sum);
  };
  exerciseView(view, {
    input: place,
    focus: () => boxes[0].focus(),
    read: () => (chosen().length ? chosen() : { ask: "Mark at least one message first: the newest is always sent." }),
    grade(answer, task) {
      if (same(answer, task.right)) return { right: true, html: task.praise, slip: "" };
      for (const path of task.wrong || []) {
        if (same(answer, path.kept)) return { right: false, html: path.says, slip: path.slip };
      }
      const step = task.steps.find(({ index, kept }) => answer.includes(index) !== kept) || { says: "" };
      return { right: false, html: `The first step that differs: ${step.says}`, slip: "" };
    },
    fits: (answer, task) => Array.isArray(answer) && new Set(answer).size === answer.length
      && answer.every((one) => Number.isInteger(one) && one in task.messages),
    show(answer, draft, task) {
      const variant = model.get("variant");
      if (shownFor !== variant) {
        build(task);
        shownFor = variant;
      }
      boxes.forEach((box, i) => (box.checked = Boolean(draft?.includes(i))));
      drawSum();
    },
  });
}
