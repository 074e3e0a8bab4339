// Twin of contextlab.tokens and the texts of contextlab.forgotten: characters are code points, white space is a list.

const SPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"; // tokens.WHITE_SPACE
const PYTHON_SPACE = "\t-\r\x1c- \x85\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"; // str.split() and \s
const WORD = "\\p{L}\\p{N}_"; // \w

const codePoints = (text) => {
  let count = 0;
  for (const _ of text) count++;
  return count;
};

const PIECE = new RegExp(` ?[A-Za-z]+| ?[0-9]{1,3}| ?[^${SPACE}A-Za-z0-9]+|[${SPACE}]+`, "gu");
function pieces(text) {
  let units = 0;
  for (const [piece] of text.matchAll(PIECE)) {
    const letters = /[A-Za-z]$/.test(piece) ? piece.length - (piece[0] === " ") : 0;
    units += letters <= 7 ? 1 : Math.ceil(letters / 4);
  }
  return units;
}
const COUNTERS = { pieces, chars: (text) => Math.ceil(codePoints(text) / 4) };

// PlainRule: 4 a message, 3 for the opening of the reply.
const OVERHEAD = 4;
const REPLY_START = 3;

const SPACES = new RegExp(`[${SPACE}]+`, "gu");
const plain = (text) => text.toLowerCase().replace(SPACES, " ").replace(/^ +| +$/g, "");

// A sign of a script whose letters have two cases, or a digit: it joins its neighbours to one word.
const joins = (sign) => sign !== undefined && (/\p{Nd}/u.test(sign) || sign.toLowerCase() !== sign.toUpperCase());
const signAt = (text, at) => (at < text.length ? String.fromCodePoint(text.codePointAt(at)) : undefined);
function signBefore(text, at) {
  if (at <= 0) return undefined;
  const low = text.charCodeAt(at - 1);
  const pair = at > 1 && low >= 0xdc00 && low <= 0xdfff && text.codePointAt(at - 2) > 0xffff;
  return signAt(text, pair ? at - 2 : at - 1);
}
// Whether `fact` stands in `text`, both from plain(), and is no part of a longer word or number.
function holds(text, fact) {
  for (let at = text.indexOf(fact); at >= 0; at = text.indexOf(fact, at + 1)) {
    const end = at + fact.length;
    const before = joins(signBefore(text, at)) && joins(signAt(fact, 0));
    const after = joins(signAt(text, end)) && joins(signBefore(fact, fact.length));
    if (!before && !after) return true;
  }
  return false;
}

// A regular expression in Python's notation. Python means other things by . ^ $ \b \w \s, and ignores case otherwise.
const ALSO = { i: "\u0130\u0131", k: "\u212a", s: "\u017f" };
function rule(source, { ignoreCase = false, lines = false, all = false, flags = "" } = {}) {
  const both = (letter) => letter.toLowerCase() + letter.toUpperCase() + (ALSO[letter.toLowerCase()] || "");
  let inside = false;
  const pattern = source.replace(/\\.|\(\?P?<[a-z]+>|\(\?[:!=]|\(\?<[!=]|\{[\d,]+\}|[[\]^$.a-zA-Z]/gu, (part, at) => {
    if (part === "\\b") return `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`;
    if (part === "\\d") return inside ? "\\p{Nd}" : "[\\p{Nd}]";
    if (part === "\\w") return inside ? WORD : `[${WORD}]`;
    if (part === "\\W") return `[^${WORD}]`;
    if (part === "\\s") return inside ? PYTHON_SPACE : `[${PYTHON_SPACE}]`;
    if (part === "\\S") return `[^${PYTHON_SPACE}]`;
    if (part.length > 1) return part.replace("?P<", "?<");
    if (part === "[" || part === "]") inside = part === "[";
    else if (part === "." && !inside) return all ? "[^]" : "[^\\n]";
    else if (part === "^" && !inside && lines) return "(?<![^\\n])";
    else if (part === "$" && !inside && lines) return "(?![^\\n])";
    else if (ignoreCase && /[a-zA-Z]/.test(part)) return inside ? both(part) : `[${both(part)}]`;
    return part;
  });
  return new RegExp(pattern, `u${flags}`);
}
const AT_START = (source, options) => rule(`^(?:${source})`, options); // re.match
const ENTIRE = (source, options) => rule(`^(?:${source})$`, options); // re.fullmatch

const split = (text) => text.split(new RegExp(`[${PYTHON_SPACE}]+`, "u")).filter(Boolean);
const strip = (text) => text.replace(new RegExp(`^[${PYTHON_SPACE}]+|[${PYTHON_SPACE}]+$`, "gu"), "");

// str.casefold: full case folding. Cherokee is folded to its capitals; a few letters fold in their own way.
const FOLDS = { "\u0130": "i\u0307", "\u0131": "\u0131" };
function casefold(text) {
  let folded = "";
  for (const sign of text) {
    const code = sign.codePointAt(0);
    if (sign in FOLDS) folded += FOLDS[sign];
    else if ((code >= 0x13a0 && code <= 0x13f5) || (code >= 0x13f8 && code <= 0x13fd) || (code >= 0xab70 && code <= 0xabbf)) folded += sign.toUpperCase();
    else for (const one of sign.toLowerCase().toUpperCase()) folded += one.toLowerCase();
  }
  return folded;
}
