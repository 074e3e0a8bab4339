// A text in pieces: word pieces live, as contextlab.tokens.WordPieces cuts them; real tokens of prepared texts.

// space: the white space of the library, as a text; an explicit list, so that both sides mean the same by it.
const pieceRule = (space) => new RegExp(` ?[A-Za-z]+| ?[0-9]{1,3}| ?[^${space}A-Za-z0-9]+|[${space}]+`, "gu");
const wordPieces = (text, space) => text.match(pieceRule(space)) || [];
function pieceUnits(piece) {
  const letters = /[A-Za-z]$/.test(piece) ? piece.replace(/^ /, "").length : 0;
  return letters <= 7 ? 1 : Math.ceil(letters / 4);
}

// [text, units] a group: a piece that begins with a combining mark or a joiner stands with the one before it.
function wordGroups(text, space) {
  const groups = [];
  for (const piece of wordPieces(text, space)) {
    if (groups.length && /^[\p{M}\u200c\u200d]/u.test(piece)) {
      groups.at(-1)[0] += piece;
      groups.at(-1)[1] += pieceUnits(piece);
    } else groups.push([piece, pieceUnits(piece)]);
  }
  return groups;
}
// Python sends the length of each group in code points, or length and tokens where a group shares several.
function tokenGroups(text, lengths) {
  const points = Array.from(text);
  let at = 0;
  return lengths.map((one) => {
    const [length, count] = Array.isArray(one) ? one : [one, 1];
    at += length;
    return [points.slice(at - length, at).join(""), count];
  });
}

// For the tests: the first text that Python and this module do not cut alike, or null.
function piecesDisagreement(data) {
  for (const [points, lengths, units, characters] of data.checks) {
    const text = String.fromCodePoint(...points);
    const pieces = wordPieces(text, data.space);
    const got = [pieces.map((piece) => Array.from(piece).length), pieces.reduce((sum, piece) => sum + pieceUnits(piece), 0), Array.from(text).length];
    if (!same(got, [lengths, units, characters]) || wordGroups(text, data.space).map(([part]) => part).join("") !== text) return { points, got };
  }
  return null;
}

function piecesView({ model, el, signal }) {
  const data = model.get("data");
  const { id, node } = head(model, data.label);
  const settings = () => ({ text: 0, counter: data.counters[0][0], own: null, ...model.get("settings") });
  const change = (changes) => commit(model, { settings: { ...settings(), ...changes } });
  const chosen = () => (settings().own === null ? data.texts[settings().text] : { name: data.own, lang: "", dir: "auto", text: settings().own });

  const select = h("select", { id: newId("text"), class: "clw-form-pick", onchange: () => change({ text: Number(select.value), own: null }) },
    data.texts.map((one, i) => h("option", { value: i }, one.name)), h("option", { value: -1, disabled: true }, data.own));
  const area = h("textarea", { id: newId("area"), class: "clw-why", rows: 3, maxlength: 2000, spellcheck: "false", oninput: () => change({ own: area.value }) });
  const counters = radios("Counter", data.counters, (counter) => change({ counter }), "clw-choices clw-inline");
  const shown = h("p", { class: "clw-pieces" });
  const sentence = h("p", { class: "clw-sentence", "aria-live": "polite" });
  lay(el, "pieces", id, node, h("div", { class: "clw-question", html: data.question }),
    h("div", { class: "clw-row" }, h("label", { for: select.id }, "Text"), select),
    h("label", { for: area.id }, "Change it, or write your own"), area,
    counters.node, shown, sentence, folded(data));

  follow(model, ["settings"], soonAfter(() => {
    const { own, counter } = settings();
    const { name, lang, dir, text, tokens } = chosen();
    const real = tokens && tokens[counter];
    select.value = own === null ? settings().text : -1;
    if (area.value !== text) area.value = text;
    for (const one of [area, shown]) {
      one.lang = lang;
      one.dir = dir;
    }
    counters.value = counter;
    const groups = real ? tokenGroups(text, real) : wordGroups(text, data.space);
    shown.replaceChildren(...groups.map(([part, count]) => h("span", {}, part.replaceAll("\n", "\u21b5\n"),
      count > 1 ? h("sup", { lang: "en", dir: "ltr" }, group(count)) : null)));
    const total = groups.reduce((sum, [, count]) => sum + count, 0);
    const characters = Array.from(text).length;
    const units = (count, approximate) => plural(count, approximate ? "approximate unit" : "token");
    sentence.innerHTML = `<b>${units(total, !real)}</b>${real ? ` of ${counter}` : ", counted in word pieces"}. `
      + `${plural(characters, "code point")}, divided by four: ${group(Math.ceil(characters / 4))}.`
      + (counter !== data.counters[0][0] && !real ? ` ${data.no_vocabulary}` : "")
      + (groups.some(([, count]) => count > 1) ? ` ${real ? data.shared : data.long}` : "");
  }), signal);
}
