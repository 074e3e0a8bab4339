// Formulas that Python wrote, evaluated exactly: a fraction is {n: BigInt, d: BigInt > 0}. Python sends values to check.

const frac = (n, d = 1n) => (d < 0n ? { n: -n, d: -d } : { n, d });
const floorOf = ({ n, d }) => (n >= 0n ? n / d : -((-n + d - 1n) / d));
const OPERATIONS = {
  "+": (a, b) => frac(a.n * b.d + b.n * a.d, a.d * b.d),
  "-": (a, b) => frac(a.n * b.d - b.n * a.d, a.d * b.d),
  "*": (a, b) => frac(a.n * b.n, a.d * b.d),
  "/": (a, b) => frac(a.n * b.d, a.d * b.n),
  "//": (a, b) => frac(floorOf(frac(a.n * b.d, a.d * b.n))),
  "%": (a, b) => OPERATIONS["-"](a, OPERATIONS["*"](b, OPERATIONS["//"](a, b))),
  "<": (a, b) => frac(a.n * b.d < b.n * a.d ? 1n : 0n),
  "<=": (a, b) => frac(a.n * b.d <= b.n * a.d ? 1n : 0n),
  "==": (a, b) => frac(a.n * b.d === b.n * a.d ? 1n : 0n),
  min: (a, b) => (a.n * b.d <= b.n * a.d ? a : b),
  max: (a, b) => (a.n * b.d >= b.n * a.d ? a : b),
  floor: (a) => frac(floorOf(a)),
  ceil: (a) => frac(-floorOf(frac(-a.n, a.d))),
};

function fromText(text) {
  const { n, e } = exact(text);
  return frac(n, 10n ** BigInt(e));
}

// tree: a number as text, {name}, or [operation, ...trees]; "if" takes condition, value, other value.
function evaluate(tree, names) {
  if (typeof tree === "string") return fromText(tree);
  if (!Array.isArray(tree)) return names[tree.name];
  const [operation, ...rest] = tree;
  if (operation === "if") return evaluate(rest[0], names).n ? evaluate(rest[1], names) : evaluate(rest[2], names);
  return OPERATIONS[operation](...rest.map((one) => evaluate(one, names)));
}

// At most `digits` decimals, rounded half up; exact values stay exact.
function fracText({ n, d }, digits = 2) {
  const scale = 10n ** BigInt(digits);
  const rounded = floorOf(frac(2n * n * scale + d, 2n * d));
  return group(decimal({ n: rounded, e: digits }));
}
const fracNumber = ({ n, d }) => Number(n) / Number(d);

// All values of an explorer: the controls, then the formulas in order, or a row of a table.
function valuesOf(data, settings) {
  const names = {};
  for (const control of data.controls) names[control.name] = fromText(String(settings[control.name] ?? control.start));
  if (data.table_of) {
    const key = data.table_of.by.map((name) => fracText(names[name], 6).replaceAll(",", "")).join("|");
    const row = data.table_of.rows[key] || [];
    data.table_of.names.forEach((name, i) => (names[name] = fromText(String(row[i] ?? 0))));
  }
  for (const [name, tree] of data.formulas || []) names[name] = evaluate(tree, names);
  return names;
}

function fill(text, names, digits) {
  return text.replace(/\{(\w+)\}/g, (_, name) => `<b>${fracText(names[name], digits?.[name] ?? 2)}</b>`);
}

// For the tests: the first value that Python and this module do not agree on, or null.
function disagreement(data) {
  for (const [settings, wanted] of data.checks || []) {
    const names = valuesOf(data, settings);
    for (const [name, value] of Object.entries(wanted)) {
      const other = fromText(value);
      if (names[name].n * other.d !== other.n * names[name].d) return { settings, name, wanted: value, got: fracText(names[name], 12) };
    }
  }
  return null;
}
