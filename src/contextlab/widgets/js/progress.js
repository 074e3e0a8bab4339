// How many exercises are solved: of one chapter, or of the book. Kept in this browser, sent nowhere.

function progressView({ model, el, signal }) {
  const data = model.get("data");
  const { id, node } = head(model, data.label);
  const sentence = h("p", { class: "clw-sentence", "aria-live": "polite" });
  const place = h("div", {});
  const note = h("p", { class: "clw-note" });
  const reset = button("Delete all my answers", () => {
    sure.hidden = false;
    reset.hidden = true;
    yes.focus();
  });
  const yes = button("Yes, delete", () => {
    store.reset();
    quiet("All answers are deleted.");
  });
  const no = button("No, keep them", () => quiet(""));
  const sure = h("div", { class: "clw-actions", hidden: true }, h("span", { class: "clw-ask" }, "Delete every answer and guess in this browser?"), yes, no);
  function quiet(text) {
    sure.hidden = true;
    reset.hidden = false;
    note.textContent = text;
    reset.focus();
  }
  const save = button("Save as a file", () => {
    const text = JSON.stringify({ format: "contextlab progress 1", work: store.all() }, null, 1);
    const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: "contextlab-progress.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    note.textContent = "Saved as contextlab-progress.json in your downloads.";
  });
  const file = h("input", { type: "file", accept: "application/json,.json", class: "clw-sr", id: newId("file"), tabindex: "-1", "aria-hidden": "true", onchange: async () => {
    const chosen = file.files[0];
    file.value = "";
    try {
      const { format, work } = JSON.parse(await chosen.text());
      if (format !== "contextlab progress 1" || !work) throw new Error("format");
      let count = 0;
      for (const [uid, value] of Object.entries(work)) {
        const good = clean(value);
        if (!good) continue;
        store.write(uid, good);
        count += 1;
      }
      note.textContent = `Read: ${plural(count, "exercise")}. Reload a page to see your answers in it.`;
    } catch {
      note.textContent = "This file is not a saved progress of this book. Nothing was changed.";
    }
  } });
  const load = button("Read from a file", () => file.click());
  lay(el, "progress", id, node, sentence, place, data.all ? h("div", { class: "clw-actions" }, save, load, reset, file) : null, data.all ? sure : null, note);

  const solved = (uid) => (live.has(uid) ? live.get(uid).get("solved") : Boolean(store.read(uid)?.solved));
  const begun = (uid) => (live.has(uid) ? live.get(uid).get("tries") > 0 : Boolean(store.read(uid)?.tries));
  const draw = () => {
    const here = data.exercises.filter(([uid]) => data.all || live.has(uid) || true);
    const done = here.filter(([uid]) => solved(uid)).length;
    sentence.innerHTML = `<b>${done} of ${here.length}</b> solved${data.all ? " in the whole book" : " in this chapter"}.`;
    const groups = new Map();
    for (const one of here) {
      const chapter = one[0].split("-")[0];
      if (!groups.has(chapter)) groups.set(chapter, []);
      groups.get(chapter).push(one);
    }
    place.replaceChildren(...[...groups].map(([chapter, list]) => {
      const base = data.pages?.[chapter] || "";
      const count = list.filter(([uid]) => solved(uid)).length;
      return h("div", { class: "clw-chapter" },
        data.all ? h("p", { class: "clw-title" }, `${data.titles?.[chapter] || "Chapter " + chapter}: ${count} of ${list.length}`) : null,
        h("ul", { class: "clw-done" }, list.map(([uid, title, label]) => h("li", { "data-done": solved(uid) },
          h("span", { class: "clw-mark", "aria-hidden": "true" }, solved(uid) ? "\u2713" : begun(uid) ? "\u2013" : "\u25cb"),
          h("a", { href: `${base}#exercise-${uid}` }, `${label}: ${title}`),
          h("span", { class: "clw-small" }, solved(uid) ? " solved" : begun(uid) ? " begun" : "")))));
    }));
    if (model instanceof PageModel && !store.check()) {
      note.textContent = "Your browser does not keep anything for this page: your answers last until you close it.";
    }
  };
  for (const event of ["work", "reset"]) bus.addEventListener(event, draw, { signal });
  addEventListener("storage", draw, { signal });
  draw();
}
