// One of several answers; every wrong one has its own feedback.

function chooseView(view) {
  const { model } = view;
  let choice = null;
  const place = h("div", {});
  let shownFor = null;
  const build = (task) => {
    choice = radios(task.ask || "Choose one answer", task.options.map((option, i) => [i, option.text]));
    place.replaceChildren(choice.node);
  };
  exerciseView(view, {
    input: place,
    againText: "Same task, another case",
    focus: () => place.querySelector("input").focus(),
    read: () => choice.value ?? { ask: "Choose one of the answers first." },
    grade(answer, task) {
      const option = task.options[answer] || { says: "" };
      return { right: Boolean(option.right), html: option.says, slip: option.slip || "" };
    },
    fits: (answer, task) => Number.isInteger(answer) && answer in task.options,
    show(answer, draft, task) {
      const variant = model.get("variant");
      if (shownFor !== variant) {
        build(task);
        shownFor = variant;
      }
      if (answer !== null || choice.value === null) choice.value = answer;
    },
  });
}
