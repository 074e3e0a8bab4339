// A page that carries its traces: the view of the first one, and a choice when there are several.
const traces = JSON.parse(document.getElementById("data").textContent);
const place = document.getElementById("traces");
const shown = h("div", {});
if (traces.length > 1) {
  const pick = h("select", { id: newId("chat"), class: "clw-form-pick", onchange: () => traceView(shown, traces[pick.value]) },
    traces.map((one, i) => h("option", { value: i }, `${one.title || "without a title"} (${plural(one.turns, "turn")})`)));
  place.replaceChildren(h("div", { class: "clw" }, h("div", { class: "clw-row" }, h("label", { for: pick.id }, "Conversation"), pick)), shown);
} else place.replaceChildren(shown);
if (traces.length) traceView(shown, traces[0]);
