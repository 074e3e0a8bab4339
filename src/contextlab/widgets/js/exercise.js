// What all exercises share: head, question, feedback, hints, worked solution. A kind brings its input and its grading.

const MARKS = { right: ["\u2713", "Right:"], wrong: ["\u25cb", "Not yet:"], ask: ["?", "Asked back:"] };

function feedbackLine(tone, html) {
  const [mark, word] = MARKS[tone];
  return h("div", { class: "clw-say", "data-tone": tone },
    h("span", { class: "clw-mark", "aria-hidden": "true" }, mark),
    h("div", {}, h("strong", {}, word), " ", h("span", { html })));
}

function head(model, label) {
  const data = model.get("data");
  const id = newId("title");
  const state = h("span", { class: "clw-state" });
  return {
    id, state,
    node: h("div", { class: "clw-head" },
      h("span", { class: "clw-label" }, label), state,
      h("p", { class: "clw-title", id }, data.title)),
  };
}

function lay(el, kind, titleId, ...children) {
  const section = h("div", { class: "clw clw-live", role: "group", "data-kind": kind, "aria-labelledby": titleId }, ...children);
  // JupyterLab moves between cells on arrow keys unless it is told that somebody is working here.
  section.setAttribute("data-lm-suppress-shortcuts", "true");
  section.addEventListener("keydown", (event) => {
    event.stopPropagation();
    // JupyterLab takes the Enter that would send a form.
    if (event.key === "Enter" && event.target.tagName === "INPUT" && event.target.form) {
      event.preventDefault();
      event.target.form.requestSubmit();
    }
  });
  el.replaceChildren(section);
  return section;
}

function solvedMark(model, state, word = "solved") {
  state.textContent = model.get("solved") ? `\u2713 ${word}` : "";
}

// The operands in force: what a variant does not name is common to all variants.
function current(model) {
  const data = model.get("data");
  const variants = data.variants || [];
  return variants.length ? { ...data, ...variants[model.get("variant") % variants.length] } : data;
}

// parts: input (an element), read() -> answer or {ask}, grade(answer, task) -> {right, html, slip}, show(answer, task),
// fits(answer, task): is this an answer of the expected form? What a browser has stored may be of an older edition.
function exerciseView({ model, el, signal }, parts) {
  const data = model.get("data");
  const { id, state, node } = head(model, data.label);
  const question = h("div", { class: "clw-question" });
  const feedback = h("div", { class: "clw-feedback", "aria-live": "polite" });
  const hints = h("ol", { class: "clw-hints", "aria-live": "polite" });
  const check = h("button", { type: "submit", class: "clw-button clw-main" }, parts.verb || "Check");
  const hint = button("Hint", () => commit(model, { hints: model.get("hints") + 1 }));
  const again = button(parts.againText || "Same task, new numbers", () => {
    commit(model, { variant: model.get("variant") + 1, answer: null, wrong: 0, hints: 0, slip: "", stage: "", draft: null });
    parts.focus?.();
  });
  const solutionBody = h("div", { class: "clw-solution-body" });
  const solution = h("details", { class: "clw-solution" }, h("summary", {}, "Worked solution"), solutionBody);
  const form = h("form", {
    class: "clw-form",
    novalidate: true,
    onsubmit(event) {
      event.preventDefault();
      const answer = parts.read();
      if (answer && answer.ask) {
        feedback.replaceChildren(feedbackLine("ask", answer.ask));
        return;
      }
      const verdict = parts.grade(answer, current(model));
      commit(model, {
        answer,
        slip: verdict.slip || "",
        tries: model.get("tries") + 1,
        wrong: verdict.right ? model.get("wrong") : model.get("wrong") + 1,
        stage: "",
        draft: null,
        solved: model.get("solved") || verdict.right,
      });
      update();
    },
  }, parts.input, h("div", { class: "clw-actions" }, check, hint, again));
  lay(el, model.get("kind"), id, node, question, form, feedback, parts.after || null, hints, solution);

  let shownVariant = null;
  const update = () => {
    const task = current(model);
    const variant = model.get("variant");
    if (variant !== shownVariant) {
      question.innerHTML = task.question;
      solutionBody.innerHTML = task.solution || "";
      solution.open = false;
      shownVariant = variant;
    }
    solvedMark(model, state);
    const given = (name) => (parts.fits(model.get(name), task) ? model.get(name) : null);
    const answer = given("answer");
    parts.show(answer, given("draft") ?? answer, task);
    const verdict = answer === null ? null : parts.grade(answer, task);
    feedback.replaceChildren(...(verdict ? [feedbackLine(verdict.right ? "right" : "wrong", verdict.html)] : []));
    const hinted = Math.min(model.get("hints"), (task.hints || []).length);
    while (hints.children.length > hinted) hints.lastChild.remove();
    while (hints.children.length < hinted) hints.append(h("li", { html: task.hints[hints.children.length] }));
    hints.hidden = !hinted;
    const left = (task.hints || []).length - hinted;
    hint.hidden = !left || Boolean(verdict?.right);
    hint.textContent = hinted ? `Next hint (${left} left)` : "Hint";
    again.hidden = !((data.variants || []).length > 1 && (verdict?.right || model.get("wrong") >= 2));
    again.classList.toggle("clw-main", !verdict?.right && model.get("wrong") >= 2);
    solution.hidden = !task.solution || !(verdict?.right || model.get("wrong") >= 2 || (task.hints && !left));
    parts.update?.(verdict, task);
  };
  follow(model, ["answer", "draft", "variant", "hints", "solved", "wrong", "stage"], soonAfter(update), signal);
  return { form, feedback, update };
}

const isOrder = (value, length) => Array.isArray(value) && value.length === length && new Set(value).size === length
  && value.every((one) => Number.isInteger(one) && one >= 0 && one < length);

// Several traits change in one commit: one update after the last of them, the first one at once.
function soonAfter(update) {
  let first = true;
  let waiting = false;
  return () => {
    if (first) {
      first = false;
      update();
      return;
    }
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => {
      waiting = false;
      update();
    });
  };
}
