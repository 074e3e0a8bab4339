// A guess before the run, and after it: guess and measured value side by side, why in one sentence, three points to tick.

const SURE = [[true, "sure"], [false, "unsure"]];

function radios(legend, options, onchange, className) {
  const name = newId("radio");
  const inputs = options.map(([value, text]) => ({
    value,
    input: h("input", { type: "radio", name, id: newId("option"), value: String(value), onchange: () => onchange?.(value) }),
    text,
  }));
  const node = h("fieldset", { class: className || "clw-choices" }, h("legend", { html: legend }),
    inputs.map(({ input, text }) => h("label", { class: "clw-choice", for: input.id }, input, h("span", { html: text }))));
  return {
    node,
    get value() {
      const found = inputs.find(({ input }) => input.checked);
      return found ? found.value : null;
    },
    set value(wanted) {
      for (const { value, input } of inputs) input.checked = value === wanted;
    },
    lock(locked) {
      node.disabled = locked;
    },
  };
}

function gradeGuess(answer, data) {
  if (!data.options) return gradeNumber(answer, data);
  const option = data.options[answer] || { says: "" };
  return { right: Boolean(option.right), html: option.right ? data.praise : option.says, slip: option.slip || "" };
}
// A guess of the expected form, or null.
function guessOf(model) {
  const data = model.get("data");
  const guess = model.get("answer");
  if (data.options) return Number.isInteger(guess) && guess in data.options ? guess : null;
  return typeof guess === "string" && parseNumber(guess, data.units).value ? guess : null;
}
const guessText = (answer, data) =>
  data.options ? data.options[answer]?.text || "" : worded(group(decimal(parseNumber(answer, data.units).value || zero)), data);

function predictView(view) {
  const { model, el, signal } = view;
  const data = model.get("data");
  const { id, state, node } = head(model, data.label);
  const number = data.options ? null : numberField(data.ask || "Your guess", data.unit, data.ordinal);
  const choice = data.options ? radios(data.ask || "Your guess", data.options.map((option, i) => [i, option.text])) : null;
  const sure = radios("How sure are you?", SURE, null, "clw-choices clw-inline");
  const says = h("div", { class: "clw-feedback", "aria-live": "polite" });
  const keep = h("button", { type: "submit", class: "clw-button clw-main" }, "Keep my guess");
  const compare = button("I have seen the result: compare", () => commit(model, { stage: "compared" }));
  const change = button("Change my guess", () => {
    commit(model, { stage: "" });
    (number ? number.field : choice.node.querySelector("input")).focus();
  });
  const form = h("form", {
    class: "clw-form", novalidate: true,
    onsubmit(event) {
      event.preventDefault();
      let answer;
      if (number) {
        const parsed = parseNumber(number.field.value, data.units);
        if (parsed.ask) return void says.replaceChildren(feedbackLine("ask", parsed.ask));
        answer = number.field.value.trim();
      } else {
        answer = choice.value;
        if (answer === null) return void says.replaceChildren(feedbackLine("ask", "Choose one of the answers first."));
      }
      if (sure.value === null) return void says.replaceChildren(feedbackLine("ask", "Say how sure you are: sure or unsure."));
      commit(model, { answer, sure: sure.value, stage: "guessed", tries: model.get("tries") + 1 });
    },
  }, number ? number.row : choice.node, sure.node, h("div", { class: "clw-actions" }, keep, compare, change));
  const result = h("div", { class: "clw-compare" });
  lay(el, "predict", id, node, h("div", { class: "clw-question", html: data.question }), form, says, result);
  if (!data.elsewhere) compareView(model, result, signal);

  follow(model, ["stage", "answer", "sure", "solved"], soonAfter(() => {
    const stage = guessOf(model) === null ? "" : model.get("stage");
    const kept = stage !== "";
    solvedMark(model, state, "done");
    if (guessOf(model) !== null) {
      if (number) number.field.value = guessOf(model);
      else choice.value = guessOf(model);
      sure.value = model.get("sure");
    }
    if (number) number.field.readOnly = kept;
    else choice.lock(kept);
    sure.lock(kept);
    keep.hidden = kept;
    change.hidden = stage !== "guessed";
    compare.hidden = stage !== "guessed" || Boolean(data.elsewhere);
    if (!kept) says.replaceChildren();
    else if (stage === "guessed") {
      says.replaceChildren(h("p", { class: "clw-note" }, "Your guess is kept. Read on; after the result, compare the two",
        data.elsewhere ? " where the text asks you to." : " here."));
    } else says.replaceChildren();
  }), signal);
}

// The second half, in the same place or further down (kind "outcome").
function compareView(model, el, signal) {
  const data = model.get("data");
  const whyId = newId("why");
  const guess = h("p", { class: "clw-big" });
  const sureText = h("p", { class: "clw-small" });
  const says = h("div", { class: "clw-feedback" });
  const why = h("textarea", { id: whyId, rows: "2", class: "clw-why" });
  const points = (data.points || []).map((point, i) => {
    const box = h("input", { type: "checkbox", id: newId("point"), onchange: () => {
      const ticks = new Set(model.get("ticks"));
      if (box.checked) ticks.add(i);
      else ticks.delete(i);
      commit(model, { ticks: [...ticks].sort((a, b) => a - b) });
    } });
    return { box, node: h("label", { class: "clw-choice", for: box.id }, box, h("span", { html: point })) };
  });
  const score = h("p", { class: "clw-small", "aria-live": "polite" });
  const pointsNode = h("fieldset", { class: "clw-choices" },
    h("legend", {}, "Three points that the answer should contain. Tick those that yours has."), points.map((point) => point.node), score);
  const asks = h("div", { class: "clw-feedback", "aria-live": "polite" });
  const save = h("button", { type: "submit", class: "clw-button clw-main" }, "Keep, and show the three points");
  const form = h("form", {
    class: "clw-form", novalidate: true,
    onsubmit(event) {
      event.preventDefault();
      if (!why.value.trim()) return void asks.replaceChildren(feedbackLine("ask", "Write one sentence first, in any words and any language."));
      asks.replaceChildren();
      commit(model, { why: why.value.trim(), stage: "explained", solved: true });
    },
  }, h("label", { for: whyId, html: data.why || "Why? One sentence. Nobody grades it." }), why, h("div", { class: "clw-actions" }, save), asks);
  const none = h("p", { class: "clw-note" }, "You have not made a guess yet. Make it first: ",
    h("a", { href: `#${data.anchor}` }, "to the question"), ".");
  const measured = data.options ? data.options.find((option) => option.right).text : worded(group(data.right), data);
  const body = h("div", { "aria-live": "polite" },
    h("div", { class: "clw-sides" },
      h("div", {}, h("p", { class: "clw-small" }, "Your guess"), guess, sureText),
      h("div", {}, h("p", { class: "clw-small" }, data.measured || "Measured"), h("p", { class: "clw-big" }, measured))),
    says);
  el.replaceChildren(none, body, form, pointsNode);
  follow(model, ["stage", "answer", "sure", "why", "ticks"], soonAfter(() => {
    const stage = guessOf(model) === null ? "" : model.get("stage");
    const guessed = stage !== "";
    const open = stage === "compared" || stage === "explained";
    el.hidden = el.dataset.own === undefined && !open;
    none.hidden = guessed;
    body.hidden = form.hidden = !open;
    pointsNode.hidden = stage !== "explained";
    if (!open) return;
    const verdict = gradeGuess(guessOf(model), data);
    guess.innerHTML = guessText(guessOf(model), data);
    sureText.textContent = model.get("sure") ? "and you were sure" : "and you were unsure";
    const long = !verdict.right && model.get("sure") && data.sure_miss;
    let html = verdict.html;
    if (verdict.right && !model.get("sure")) html += " " + (data.unsure_hit || "You were unsure: the sentence below shows whether it was the reason or luck.");
    if (long) html += `</span><span class="clw-more">${data.sure_miss}`;
    says.replaceChildren(feedbackLine(verdict.right ? "right" : "wrong", html));
    if (document.activeElement !== why) why.value = model.get("why");
    save.textContent = stage === "explained" ? "Keep the new sentence" : "Keep, and show the three points";
    const ticks = model.get("ticks");
    points.forEach((point, i) => (point.box.checked = ticks.includes(i)));
    score.textContent = `${ticks.length} of ${points.length} ticked.`;
  }), signal);
}

// The same guess, compared further down in the text: another view of the model of the predict widget.
async function outcomeView(view) {
  const { model, el, signal } = view;
  const data = model.get("data");
  const guess = await view.find(data.of);
  const { id, state, node } = head(model, data.label);
  const result = h("div", { class: "clw-compare", "data-own": "" });
  const compare = button("Compare with my guess", () => commit(guess, { stage: "compared" }));
  const actions = h("div", { class: "clw-actions" }, compare);
  lay(el, "outcome", id, node, actions, result);
  compareView(guess, result, signal);
  follow(guess, ["answer", "stage", "solved"], soonAfter(() => {
    solvedMark(guess, state, "done");
    actions.hidden = guessOf(guess) === null || guess.get("stage") !== "guessed";
  }), signal);
}
