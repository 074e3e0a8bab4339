// Lines to put in order: by the buttons of each line, by arrow keys on its handle, or by dragging it.

// options: lines (HTML or elements), className; onMove(order) after each move. `order` holds indices of lines.
function sortable(lines, names, onMove) {
  const list = h("ol", { class: "clw-sort" });
  const says = h("p", { class: "clw-sr", "aria-live": "polite" });
  let order = lines.map((_, i) => i);
  let locked = false;
  const rows = lines.map((line, i) => {
    const up = button("\u2191", () => shift(i, -1, up), { class: "clw-button clw-icon", "aria-label": `Move up: ${names[i]}` });
    const down = button("\u2193", () => shift(i, 1, down), { class: "clw-button clw-icon", "aria-label": `Move down: ${names[i]}` });
    const body = h("div", { class: "clw-sort-text" });
    if (typeof line === "string") body.innerHTML = line;
    else body.append(line);
    const grip = h("span", { class: "clw-grip", "aria-hidden": "true" });
    const row = h("li", { class: "clw-sort-row" }, grip, body, h("span", { class: "clw-sort-buttons" }, up, down));
    row.addEventListener("keydown", (event) => {
      if (event.target.tagName !== "BUTTON" || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
      event.preventDefault();
      shift(i, event.key === "ArrowUp" ? -1 : 1, event.target);
    });
    row.addEventListener("pointerdown", (event) => grab(event, i, row));
    return row;
  });

  function shift(line, by, focused) {
    const from = order.indexOf(line);
    const to = from + by;
    if (locked || to < 0 || to >= order.length) return;
    move(line, to);
    focused.focus();
    says.textContent = `${names[line]}: now place ${to + 1} of ${order.length}.`;
  }
  function move(line, to) {
    const next = order.filter((one) => one !== line);
    next.splice(to, 0, line);
    set(next);
    onMove(next);
  }
  function grab(event, line, row) {
    if (locked || event.button || event.target.closest("button, select")) return;
    // A finger scrolls the page unless it takes the handle.
    if (event.pointerType !== "mouse" && !event.target.closest(".clw-grip")) return;
    event.preventDefault();
    row.setPointerCapture(event.pointerId);
    row.classList.add("clw-grabbed");
    const drag = (moved) => {
      const others = order.filter((one) => one !== line);
      let to = others.findIndex((one) => {
        const box = rows[one].getBoundingClientRect();
        return moved.clientY < box.top + box.height / 2;
      });
      if (to < 0) to = others.length;
      if (to !== order.indexOf(line)) move(line, to);
    };
    const drop = () => {
      row.classList.remove("clw-grabbed");
      row.removeEventListener("pointermove", drag);
      row.removeEventListener("pointerup", drop);
      row.removeEventListener("pointercancel", drop);
      says.textContent = `${names[line]}: now place ${order.indexOf(line) + 1} of ${order.length}.`;
    };
    row.addEventListener("pointermove", drag);
    row.addEventListener("pointerup", drop);
    row.addEventListener("pointercancel", drop);
  }
  function set(next) {
    order = next || lines.map((_, i) => i);
    // Move only the rows that are elsewhere: the one that is being dragged or focused keeps its place in the page.
    order.forEach((line, place) => {
      if (list.children[place] !== rows[line]) list.insertBefore(rows[line], list.children[place] || null);
    });
    order.forEach((line, place) => {
      const [up, down] = rows[line].querySelectorAll(".clw-icon");
      up.setAttribute("aria-disabled", place === 0);
      down.setAttribute("aria-disabled", place === order.length - 1);
    });
  }
  list.append(...rows);
  return {
    node: h("div", {}, list, says),
    rows,
    get order() {
      return order;
    },
    set,
  };
}

const plain = (html) => {
  const node = document.createElement("div");
  node.innerHTML = html;
  return node.textContent;
};

function gradeOrder(answer, task) {
  if (same(answer, task.right)) return { right: true, html: task.praise, slip: "" };
  for (const path of task.wrong || []) {
    if (same(answer, path.order)) return { right: false, html: path.says, slip: path.slip };
  }
  const place = answer.findIndex((line, i) => line !== task.right[i]);
  const good = place === 0 ? "" : place === 1 ? "Place 1 is right. " : `Places 1 to ${place} are right. `;
  return { right: false, html: `${good}Place ${place + 1} is not right yet. ${task.tip || ""}`, slip: "" };
}

function orderView(view) {
  const { model } = view;
  const place = h("div", {});
  let sort = null;
  let shownFor = null;
  exerciseView(view, {
    input: place,
    focus: () => place.querySelector("button").focus(),
    read: () => sort.order,
    grade: gradeOrder,
    fits: (answer, task) => isOrder(answer, task.items.length),
    show(answer, draft, task) {
      const variant = model.get("variant");
      if (shownFor !== variant) {
        sort = sortable(task.items, task.items.map(plain), (order) => commit(model, { draft: order }));
        place.replaceChildren(h("p", { class: "clw-small" }, task.ends || ""), sort.node);
        shownFor = variant;
      }
      sort.set(draft);
    },
  });
}
