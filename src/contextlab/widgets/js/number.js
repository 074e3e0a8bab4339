// A number with its unit. Wrong answers that a known belief produces are named; for the others one value in between is asked.

const zero = { n: 0n, e: 0 };

function gradeNumber(text, task) {
  const parsed = parseNumber(text, task.units);
  if (parsed.ask) return { right: false, html: parsed.ask, slip: "" };
  const value = parsed.value;
  const tolerance = exact(task.tolerance || "0");
  const right = exact(task.right);
  if (near(value, right, tolerance)) return { right: true, html: task.praise, slip: "" };
  for (const path of task.wrong || []) {
    if (near(value, exact(path.value), tolerance)) return { right: false, html: path.says, slip: path.slip };
  }
  return { right: false, html: apart(value, right, task), slip: "", unknown: true };
}

// "12 tokens", but "1 token" and "request 12".
function worded(text, task) {
  const unit = task.unit || "";
  if (task.ordinal) return `${unit} ${text}`;
  return `${text} ${text === "1" ? unit.replace(/([a-z]{3})s$/, "$1") : unit}`.trim();
}

// Direction and size of a miss, without giving the answer away.
function apart(value, right, task) {
  const given = worded(group(decimal(value)), task);
  if (less(value, zero) && !less(right, zero)) return `${given} is below zero, and the value asked for is not.`;
  const high = less(right, value);
  const [v, r] = align(value, right);
  const big = v > r ? v : r;
  const small = v > r ? r : v;
  let size = "less than a tenth";
  if (small <= 0n || big >= small * 10n) size = "a factor of ten or more";
  else if (big >= small * 2n) size = "a factor between two and ten";
  else if ((big - small) * 10n >= small * 5n) size = "half or more, but less than a factor of two";
  else if ((big - small) * 10n >= small) size = "between a tenth and a half";
  return `${given} is too ${high ? "high" : "low"}, by ${size}.`;
}

// Label, field and unit in one line; Enter checks, because the field stands in a form.
function numberField(label, unit, ordinal) {
  const id = newId("field");
  const field = h("input", {
    id, type: "text", inputmode: "decimal", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    class: "clw-number",
  });
  const unitNode = h("span", { class: "clw-unit" }, unit || "");
  const labelNode = h("label", { for: id, html: label });
  return { field, labelNode, unitNode, row: h("div", { class: "clw-row" }, labelNode, ordinal ? [unitNode, field] : [field, unitNode]) };
}

function numberView(view) {
  const { model } = view;
  const data = model.get("data");
  const { field, row } = numberField(data.ask || "Your answer", data.unit, data.ordinal);
  // One value in between, asked for after an answer that no known slip explains.
  const between = numberField("", "");
  const betweenSays = h("div", { class: "clw-feedback", "aria-live": "polite" });
  const betweenForm = h("form", {
    class: "clw-between", novalidate: true,
    onsubmit(event) {
      event.preventDefault();
      const step = current(model).step;
      const parsed = parseNumber(between.field.value, step.units);
      if (parsed.ask) betweenSays.replaceChildren(feedbackLine("ask", parsed.ask));
      else commit(model, { stage: between.field.value });
    },
  }, between.row, h("div", { class: "clw-actions" }, h("button", { type: "submit", class: "clw-button" }, "Check this part")), betweenSays);

  exerciseView(view, {
    input: row,
    after: betweenForm,
    focus: () => field.focus(),
    read() {
      const parsed = parseNumber(field.value, current(model).units);
      return parsed.ask ? parsed : field.value.trim();
    },
    grade: gradeNumber,
    fits: (answer) => typeof answer === "string",
    show(answer) {
      if (document.activeElement !== field || answer === null) field.value = answer ?? "";
    },
    update(verdict, task) {
      betweenForm.hidden = !(verdict?.unknown && task.step);
      if (betweenForm.hidden) return;
      between.labelNode.innerHTML = "First: " + task.step.ask;
      between.unitNode.textContent = task.step.unit;
      const text = model.get("stage");
      if (!text) {
        between.field.value = "";
        betweenSays.replaceChildren();
        return;
      }
      between.field.value = text;
      const parsed = parseNumber(text, task.step.units);
      const good = parsed.value && near(parsed.value, exact(task.step.value), exact(task.step.tolerance || "0"));
      betweenSays.replaceChildren(
        good ? feedbackLine("right", task.step.then) : feedbackLine("wrong", task.step.tip));
    },
  });
}
