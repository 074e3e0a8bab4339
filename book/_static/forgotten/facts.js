// Twin of contextlab.pins: the patterns that find a fact in a user's words, and the board that knows it again.

const NO_NAMES = new Set("a an the not none no nothing unknown unimportant private secret irrelevant".split(" "));
const NAME_KEY = "user name";
const lowerCase = /^\p{Lowercase}/u;

// The letters at the start of a word, their marks, and the hyphens and apostrophes between them.
function wordOf(text) {
  let word = "";
  let end = 0;
  for (const sign of text) {
    const first = word === "";
    word += sign;
    if (/\p{L}/u.test(sign) || (!first && (/\p{M}/u.test(sign) || sign === "\u200c" || sign === "\u200d"))) end = word.length;
    else if (first || !"'’-".includes(sign)) break;
  }
  return text.slice(0, end);
}
function nameAtStart(text) {
  const name = [];
  for (const candidate of split(text)) {
    const word = wordOf(candidate);
    if (!word || lowerCase.test(word) || (!name.length && NO_NAMES.has(word.toLowerCase()))) break;
    name.push(word);
    if (word !== candidate) break;
  }
  return name.join(" ") || null;
}

const fact = (key, value, kind = "said", corrects = false) => ({ key, value, kind, corrects });
const I = { ignoreCase: true };
const NAME_FOLLOWS = rule(String.raw`\bmy name is ((?:\S+ ?){1,3})`, I);
const CALL_ME = rule(String.raw`\bcall me ((?:\S+ ?){1,3})`, I);
const NAME_CORRECTED = rule(String.raw`\b(?:correction|actually|sorry|no)[:,.]? my name is `);
const I_AM = rule(String.raw`(?:^|[^\w])I(?: am|['’]m) ((?:\S+ ?){1,3})`);
const NOT_IN_WORD = AT_START(String.raw`\W|$`);

function statedName(text) {
  const low = text.toLowerCase();
  if (low.includes("call me ")) {
    const found = CALL_ME.exec(text);
    const name = found && nameAtStart(found[1]);
    if (name) return [fact(NAME_KEY, name, "said", true)];
  }
  let found = low.includes("name is") ? NAME_FOLLOWS.exec(text) : null;
  let name = found && nameAtStart(found[1]);
  if (name && NAME_CORRECTED.test(low)) return [fact(NAME_KEY, name, "said", true)];
  if (name === null && (low.includes("i am ") || low.includes("i'm ") || low.includes("i’m "))) {
    found = I_AM.exec(text);
    name = found && nameAtStart(found[1]);
    if (name && !NOT_IN_WORD.test(found[1].slice(name.length))) name = null;
  }
  return name ? [fact(NAME_KEY, name)] : [];
}

const SENTENCE_ENDS = rule(String.raw`(?<=[.!?])\s+|(?<=[。！？])|\n+`);
const sentences = (text) => text.split(SENTENCE_ENDS).map(strip).filter(Boolean);
const trimEnd = (text) => text.replace(/[ .!。！]+$/u, "");

const ASKS = "(?:please |and |also |now |so |then )*";
const ABOUT = String.raw`(?:that )?(?:my|our|the) (?P<key>[^.!?\n:=]{1,40}?) (?:is|are|was|=)(?P<now> now)?(?: called)? (?P<value>.+?)`
  + String.raw`(?:, (?:so|and|but|because|which)\b.*)?`;
const OPENERS = "(?:(?P<fix>correction|actually|sorry|no|update|i was wrong)[:,.]? )?";
const REMEMBER = AT_START(ASKS + String.raw`(?:remember|(?:don['’]t|do not) forget|keep in mind)(?! when\b| how\b| to\b)(?: that|:|,)? (.+)`, I);
const WHOLE_ABOUT = ENTIRE(ABOUT, I);
const STATEMENT = ENTIRE(OPENERS + ABOUT, I);

function remembered(text) {
  const low = text.toLowerCase();
  if (!["remember", "forget", "keep in mind"].some((word) => low.includes(word))) return [];
  const found = [];
  for (const sentence of sentences(text)) {
    const asked = REMEMBER.exec(sentence);
    if (!asked || sentence.endsWith("?")) continue;
    const what = trimEnd(asked[1]);
    const about = WHOLE_ABOUT.exec(what)?.groups;
    if (about) {
      const key = about.key.toLowerCase();
      found.push(fact(key === "name" ? NAME_KEY : key, about.value, "explicit", about.now !== undefined));
    } else if (what) found.push(fact(null, what, "explicit"));
  }
  return found;
}

const FROM_NOW = "(?:from now on|in future|for the rest of (?:this|the|our) (?:chat|conversation))";
const WISH = AT_START(String.raw`${ASKS}(?:${FROM_NOW},?|(?=always |never )) ?(.+)|(.+?),? ${FROM_NOW}\W*$`, I);
const PLEASE = rule(",? please$", I);
const UNITS = rule(String.raw`\b(metric|imperial|SI)\b`, I);
const LANGUAGE = rule(String.raw`\b(?:answer|reply|write|respond|speak) in (§+)`, I);
const LANGUAGE_WORD = new RegExp(LANGUAGE.source.replace("§", "[\\p{L}\\p{Nl}\\p{No}]"), "u");
const upperCase = /^\p{Uppercase}/u;

function standingInstruction(text) {
  const low = text.toLowerCase();
  if (!["from now on", "always", "never", "for the rest of", "in future"].some((word) => low.includes(word))) return [];
  const found = [];
  for (const sentence of sentences(text)) {
    const wish = WISH.exec(sentence);
    if (!wish || sentence.endsWith("?")) continue;
    const what = trimEnd(wish[1] || wish[2]).replace(PLEASE, "");
    const units = UNITS.exec(what);
    const language = LANGUAGE_WORD.exec(what);
    if (units) found.push(fact("units", units[1].toLowerCase(), "explicit", true));
    else if (language && upperCase.test(language[1])) found.push(fact("language of replies", language[1], "explicit", true));
    else found.push(fact(null, what, "explicit"));
  }
  return found;
}

function statements(text) {
  const low = text.toLowerCase();
  if (![" is ", " are ", " was ", " = "].some((word) => low.includes(word))) return [];
  const found = [];
  for (const sentence of sentences(text)) {
    const about = STATEMENT.exec(trimEnd(sentence))?.groups;
    if (about && !sentence.endsWith("?")) found.push(fact(about.key.toLowerCase(), about.value, "statement", about.fix !== undefined || about.now !== undefined));
  }
  return found;
}
const EXTRACTORS = [statedName, remembered, standingInstruction, statements];

const MARKED = ["document", "page", "quote", "context", "tool_result", "pasted"];
const QUOTED = new RegExp([
  rule("```.*?(?:```|$)", { all: true }),
  rule(String.raw`^[ \t]*>[^\n]*$`, { lines: true }),
  ...MARKED.map((tag) => rule(String.raw`<${tag}\b[^>]*>.*?(?:</${tag}>|$)`, { ignoreCase: true, all: true })),
  rule(String.raw`“[^”\n]{20,}”|"[^"\n]{20,}"|«[^»\n]{20,}»`),
].map((one) => one.source).join("|"), "gu");
// What a user says in their own name: without code blocks, quoted lines, long quotations and marked pages.
const ownWords = (text) => (/["“«><]|```/.test(text) ? text.replace(QUOTED, "") : text);

function oneLine(text) {
  const spaced = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/gu, " ");
  return split(spaced.replaceAll("<|", "< |").replaceAll("|>", "| >")).join(" ");
}
// Pin.text: the pin as one sentence of a note.
function pinText(key, value) {
  const text = key === null ? oneLine(value) : `${oneLine(key)}: ${oneLine(value)}`;
  return /[.!?。]$/u.test(text) ? text : `${text}.`;
}

const foldedText = (text) => split(casefold(text)).join(" ").replace(/[ .!]+$/, "");
const identity = (key, value = "") => (key !== null ? `key ${foldedText(key)}` : `note ${foldedText(value)}`);

// The board: which fact is new, repeated, or replaces another. `read` returns the pins that the message touched.
class Board {
  constructor() {
    this.pins = new Map();
  }
  read(text, index) {
    const own = ownWords(text);
    const facts = [];
    for (const extract of own ? EXTRACTORS : []) {
      for (const one of extract(own)) {
        if ((one.key !== null && !oneLine(one.key)) || !oneLine(one.value)) continue;
        if (!facts.some((other) => JSON.stringify(other) === JSON.stringify(one))) facts.push(one);
      }
    }
    const touched = facts.filter((one) => this.take(one, index));
    return touched.map((one) => this.find(one.key === null ? one.value : one.key));
  }
  take(one, index) {
    const id = identity(one.key, one.value);
    const pin = this.pins.get(id);
    if (!pin && one.kind === "statement") return false;
    if (!pin || foldedText(pin.value) !== foldedText(one.value)) this.pins.set(id, { key: one.key, value: one.value, said: index });
    return true;
  }
  find(text) {
    return this.pins.get(identity(text)) || this.pins.get(identity(null, text));
  }
}
