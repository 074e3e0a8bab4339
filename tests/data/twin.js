// Runs the generated vectors of tests/twin_vectors.py; returns those in which page and library do not agree.
function disagreements(vectors, most = 20) {
  const found = [];
  const run = {
    count: ({ text }) => [pieces(text), COUNTERS.chars(text), codePoints(text)],
    compare: ({ text, other }) => [plain(text), holds(plain(text), plain(other)), oneLine(text), foldedText(text)],
    extract: ({ text }) => {
      const own = ownWords(text);
      return [own, EXTRACTORS.flatMap((extract) => extract(own)).map((one) => [one.key, one.value, one.kind, one.corrects])];
    },
    chat: ({ messages, options }) => {
      const { chat, ...trace } = lookBack(messages.map(([role, text]) => ({ role, text })), options);
      return trace;
    },
    export: ({ text }) => readAll(text),
  };
  const sorted = (key, value) => (value && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value);
  for (const vector of vectors) {
    let got;
    try {
      got = run[vector.kind](vector);
    } catch (error) {
      got = `${error.stack}`;
    }
    if (JSON.stringify(got, sorted) !== JSON.stringify(vector.wanted, sorted)) found.push({ ...vector, got });
    if (found.length >= most) break;
  }
  return found;
}
