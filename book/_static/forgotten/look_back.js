// Twin of contextlab.forgotten.look_back with PlainRule, and of contextlab.keep.newest_run.

const FIRST = "first message";
const INSTRUCTIONS = new Set(["system", "developer"]);

// The index at which the longest newest run that fits `room` begins; `stop` when nothing fits.
function newestRun(prefix, room, stop) {
  let low = 0;
  let high = stop;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (prefix[stop] - prefix[middle] <= room) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Every message is counted once; windows share the counts. messages: {role, text, calls}.
function* countedChat(messages, count) {
  let first = 0;
  while (first < messages.length && INSTRUCTIONS.has(messages[first].role)) first++;
  const cost = ({ text, calls = [] }) => OVERHEAD + [text, ...calls.flat()].reduce((sum, one) => sum + count(one), 0);
  const fixed = messages.slice(0, first).reduce((sum, one) => sum + cost(one), REPLY_START);
  const history = messages.slice(first);
  const prefix = [0];
  const texts = [];
  for (const one of history) {
    prefix.push(prefix.at(-1) + cost(one));
    texts.push(plain(one.text));
    yield;
  }
  const requests = history.flatMap((one, i) => (one.role === "user" ? [i] : []));
  const turns = []; // index in the history -> turn
  let turn = 0;
  for (const one of history) turns.push((turn += one.role === "user"));
  return { count, cost, fixed, first, history, prefix, requests, turns, texts };
}

const holdersOf = (texts, needle) => (needle ? texts.flatMap((text, i) => (holds(text, needle) ? [i] : [])) : []);
function saidFact(chat, text, key, indices) {
  const messages = [...new Set(indices)].sort((a, b) => a - b);
  return { text, key, messages, said_turn: messages.length ? chat.turns[messages[0]] : null, replaced_turn: null };
}
function givenFact(chat, text) {
  return saidFact(chat, text, null, holdersOf(chat.texts, plain(text)));
}

// The first user message and what the patterns find. A value of one word counts only beside its key.
function* saidFacts(chat) {
  const { history, requests, texts } = chat;
  const first = requests[0];
  const board = new Board();
  const found = new Map();
  for (const index of requests) {
    for (const pin of board.read(history[index].text, index)) {
      const place = JSON.stringify([pin.key, pin.key === null ? pin.value : null, pin.said]);
      if (!found.has(place)) {
        if (pin.key !== null) for (const one of found.values()) if (one.key === pin.key) one.replaced ??= index;
        found.set(place, { key: pin.key, value: pin.value, said: pin.said, indices: [], replaced: null });
      }
      found.get(place).indices.push(index);
    }
    yield;
  }
  const opening = texts[first];
  const long = opening.split(" ").length > 3;
  const repeated = texts.flatMap((text, i) => (i > first && (long ? holds(text, opening) : text === opening) ? [i] : []));
  const facts = [saidFact(chat, history[first].text, FIRST, [first, ...repeated])];
  for (const { key, value, said, indices, replaced } of found.values()) {
    const needle = plain(value);
    let holders = holdersOf(texts, needle).filter((i) => i >= said);
    if (key !== null && key !== NAME_KEY && !needle.includes(" ")) holders = holders.filter((i) => holds(texts[i], plain(key)));
    const one = saidFact(chat, value, key, [...indices, ...holders]);
    if (replaced !== null) one.replaced_turn = chat.turns[replaced];
    facts.push(one);
    yield;
  }
  return facts;
}

const WORDS = /[\p{L}\p{N}]+/gu;
// Word of four signs or more -> indices of the user messages with it.
function* wordsOf(chat) {
  const found = new Map();
  for (const index of chat.requests) {
    for (const word of new Set(chat.texts[index].match(WORDS))) {
      if (codePoints(word) < 4) continue;
      if (!found.has(word)) found.set(word, []);
      found.get(word).push(index);
    }
    yield;
  }
  return found;
}
// The user messages that hold a fact or two of its rare words.
function comesBack(chat, words, one) {
  const shared = new Map();
  const rare = Math.max(3, Math.floor(chat.requests.length / 20));
  for (const word of new Set(plain(one.text).match(WORDS))) {
    const indices = words.get(word) || [];
    if (indices.length <= rare) for (const i of indices) shared.set(i, (shared.get(i) || 0) + 1);
  }
  const found = new Set([...shared].filter(([, times]) => times >= 2).map(([i]) => i));
  for (const i of one.messages) if (chat.history[i].role === "user") found.add(i);
  return [...found].sort((a, b) => a - b);
}
// Whether ascending indices have one from `start` up to `stop`.
function anyIn(indices, start, stop) {
  let low = 0;
  let high = indices.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (indices[middle] < start) low = middle + 1;
    else high = middle;
  }
  return low < indices.length && indices[low] < stop;
}

function factTrace(chat, words, starts, one) {
  const { messages } = one;
  const back_turns = [];
  let [drop_turn, turns_visible, since, before] = [null, 0, 0, true];
  chat.requests.forEach((current, k) => {
    if (starts[k] > current || !messages.length || messages[0] > current) return;
    since++;
    const now = anyIn(messages, starts[k], current + 1);
    turns_visible += now;
    if (!now && drop_turn === null) drop_turn = k + 1;
    if (now && !before) back_turns.push(k + 1);
    before = now;
  });
  const said_again_turns = comesBack(chat, words, one).filter((i) => {
    const start = starts[chat.turns[i] - 1];
    return messages.length && messages[0] < Math.min(start, i) && !anyIn(messages, start, i);
  }).map((i) => chat.turns[i]);
  const pin_units = chat.cost({ text: `Memory: ${pinText(one.key === FIRST ? null : one.key, one.text)}` });
  return { ...one, drop_turn, back_turns, turns_visible, said_again_turns, pin_units, pin_sent_units: pin_units * since };
}

// The trace in one window, or {why}: the window leaves no room.
function* windowTrace(chat, window, reply_reserve, said, words) {
  const { fixed, prefix, requests, turns } = chat;
  const room = window - reply_reserve - fixed;
  if (room <= 0) return { why: `${group(fixed)} for every request and ${group(reply_reserve)} for the reply leave no room in a window of ${group(window)}.` };
  const starts = [];
  const rows = [];
  let [sent, first, known] = [0, 0, 0];
  requests.forEach((current, k) => {
    const stop = current + 1;
    const start = newestRun(prefix, room, stop);
    starts.push(start);
    if (start === stop) {
      rows.push({ turn: k + 1, input_units: 0, messages_kept: 0, messages_dropped: stop, oldest_turn_kept: null, fits: false });
      return;
    }
    const units = fixed + prefix[stop] - prefix[start];
    first += prefix[stop] - prefix[Math.max(start, known)] + (sent ? 0 : fixed);
    known = stop;
    sent += units;
    rows.push({ turn: k + 1, input_units: units, messages_kept: stop - start, messages_dropped: start, oldest_turn_kept: turns[start], fits: true });
  });
  const facts = [];
  for (const one of said) {
    facts.push(factTrace(chat, words, starts, one));
    yield;
  }
  return { window, reply_reserve, room, facts, requests: rows, sent_units: sent, first_units: first, resent_units: sent - first };
}

// The whole trace; it yields between two pieces of work.
function* lookBackSteps(messages, { counter = "pieces", windows, reply_reserve = 0, facts = [], title = "" }) {
  const chat = yield* countedChat(messages, COUNTERS[counter]);
  if (!chat.requests.length) throw new ReadError("This conversation has no message of a user, so there is no request to trace.");
  let said = [];
  if (!facts.length) said = yield* saidFacts(chat);
  for (const text of facts) {
    said.push(givenFact(chat, text));
    yield;
  }
  const words = yield* wordsOf(chat);
  const traced = [];
  for (const window of windows) traced.push(yield* windowTrace(chat, window, reply_reserve, said, words));
  return {
    chat, title, counter, unit: "approximate units", messages: chat.history.length, turns: chat.requests.length,
    units: chat.prefix.at(-1), fixed_units: chat.fixed, windows: traced,
  };
}
function lookBack(messages, options) {
  const steps = lookBackSteps(messages, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
