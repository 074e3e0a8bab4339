// The module's one export: AFM's `render` for JupyterLab, `mount` for a page without a kernel.

const KINDS = {
  number: numberView, choose: chooseView, order: orderView, keep: keepView, code: codeView,
  predict: predictView, outcome: outcomeView,
  strips: stripsView, walk: walkView, drop: dropView, pieces: piecesView, trades: tradesView, explorer: explorerView, window: explorerView,
  progress: progressView,
};

function finder(model) {
  return async (uid) => {
    if (live.has(uid)) return live.get(uid);
    if (!model.get("partner")) throw new Error(`no widget ${uid} on this page`);
    return model.widget_manager.get_model(model.get("partner").slice(10));
  };
}

async function render({ model, el, signal, find }) {
  const view = KINDS[model.get("kind")];
  if (!view) throw new Error(`unknown kind of widget: ${model.get("kind")}`);
  if (!live.has(model.get("uid"))) live.set(model.get("uid"), model);
  await view({ model, el, signal, find: find || finder(model) });
}

// record: what the page holds of a widget; `find` gives the model of another widget of the page.
const model = (record) => new PageModel(record);

// What the tests ask.
const tests = { parseNumber, decimal, gradeNumber, gradeOrder, gradeCode, program, disagreement, dropDisagreement, piecesDisagreement, tradesDisagreement, store, live };

export default { render, model, tests, kinds: Object.keys(KINDS) };
