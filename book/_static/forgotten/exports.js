// Which of the four formats an element of a file is in, and the conversations of a whole file.

// What one element of a JSON file is: "chatgpt", "claude", "openai", "message" (of a bare list), or null.
function formatOf(element) {
  if (Array.isArray(element)) return element.length && element.every((one) => isObject(one) && typeof one.role === "string") ? "openai" : null;
  if (!isObject(element)) return null;
  if (isObject(element.mapping)) return "chatgpt";
  if (Array.isArray(element.chat_messages)) return "claude";
  if (Array.isArray(element.messages)) return formatOf(element.messages);
  return typeof element.role === "string" ? "message" : null;
}
const READERS = { chatgpt: readChatGPT, claude: readClaude, openai: readOpenAI };
const FORMAT_NAMES = { chatgpt: "ChatGPT export", claude: "Claude export", openai: "OpenAI messages", transcript: "plain text" };

function conversationOf(format, element) {
  const draft = new Draft();
  READERS[format](element, draft);
  return draft;
}
// What to_messages of the library keeps: everything but the model's thoughts.
const sentMessages = (draft) => draft.messages.filter(({ kind }) => kind !== "reasoning").map(({ role, text, calls }) => ({ role, text, calls }));
const shownTurns = (draft) => draft.messages.filter(({ role, hidden }) => role === "user" && !hidden).length;

// Takes the elements of a file one by one and hands on each conversation: {title, updated, turns, format, read()}.
class Collector {
  constructor(found) {
    Object.assign(this, { found, elements: 0, others: 0, broken: 0, bare: [] });
  }
  take(text) {
    this.elements++;
    let element;
    try {
      element = JSON.parse(text);
    } catch {
      this.broken++;
      return;
    }
    const wrapped = isObject(element) && ["conversations", "chats", "data", "items"].map((key) => element[key]).find((list) => Array.isArray(list) && list.some((one) => ["chatgpt", "claude", "openai"].includes(formatOf(one))));
    if (wrapped && !formatOf(element)) wrapped.forEach((one) => this.element(one, () => one));
    else this.element(element, () => JSON.parse(text));
  }
  element(element, again) {
    const format = formatOf(element);
    if (format === "message") this.bare.push(element);
    else if (!format) this.others++;
    else this.give(format, conversationOf(format, element), () => conversationOf(format, again()), asText(some(element.conversation_id, element.uuid, element.id)) || null);
  }
  give(format, draft, again, id = null) {
    if (draft.broken || !draft.messages.length) this.broken += draft.broken;
    else this.found({ id, title: draft.title, updated: draft.updated, turns: shownTurns(draft), format, read: () => sentMessages(again()) });
  }
  // The end of a file: a bare list of messages is one conversation.
  end() {
    const { bare } = this;
    if (bare.length) this.give("openai", conversationOf("openai", bare), () => conversationOf("openai", bare));
    this.bare = [];
  }
}

// Reads the texts of one file; returns why it ended early, or "".
async function readTexts(chunks, name, collector, stopped) {
  const splitter = new Splitter();
  let kind = null;
  let text = "";
  for await (const chunk of chunks) {
    if (stopped()) return "";
    if (kind === null) {
      text += chunk;
      const first = text.trimStart()[0];
      if (first === undefined) continue;
      if (first === "<") throw new ReadError(`${name} is a page in HTML. Ask for the export as JSON, and choose its zip or its conversations.json.`);
      kind = first === "[" || first === "{" ? "json" : "text";
      if (kind === "json") await inSlices(takeAll(splitter.push(text), collector), stopped);
    } else if (kind === "json") await inSlices(takeAll(splitter.push(chunk), collector), stopped);
    else text += chunk;
  }
  if (kind === null) throw new ReadError(`${name} is empty.`);
  if (kind === "text") {
    const draft = readTranscript(text);
    collector.give("transcript", draft, () => readTranscript(text));
    return "";
  }
  collector.end();
  return splitter.whole ? "" : ` The file ends in the middle of element ${group(splitter.count + 1)}: what comes after is missing.`;
}
function* takeAll(elements, collector) {
  for (const element of elements) {
    collector.take(element);
    yield;
  }
}

// Reads a file, packed or not, and returns a sentence about it. `found` gets each conversation, `tell` the part done.
async function readFile(file, found, tell, stopped) {
  const head = new Uint8Array(await file.slice(0, 16).arrayBuffer());
  const begins = (...bytes) => bytes.every((byte, i) => head[i] === byte);
  if (begins(0x53, 0x51, 0x4c, 0x69, 0x74, 0x65)) throw new ReadError(`${file.name} is the database of an application. Use the export of the application.`);
  const kept = [];
  const collector = new Collector((one) => {
    kept.push(one);
    found(one);
  });
  let members = [{ path: file.name, size: file.size, stream: () => (begins(0x1f, 0x8b) ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream()) }];
  if (begins(0x50, 0x4b)) {
    members = (await membersOf(file)).filter(({ path }) => /\.jsonl?$/i.test(path) && !/(^|\/)(__MACOSX|\._)/.test(path))
      .sort((a, b) => a.path.localeCompare(b.path, "en", { numeric: true }));
    if (!members.length) throw new ReadError(`${file.name} has no JSON file in it. Choose the zip of a data export of ChatGPT or Claude.`);
  }
  const all = members.reduce((sum, { size }) => sum + size, 0) || 1;
  let done = 0;
  let cut = "";
  for (const { path, size, stream } of members) {
    cut ||= await readTexts(chunksOf(await stream(), path, (bytes) => tell(Math.min((done + bytes) / all, 1))), path, collector, stopped);
    if (stopped()) return "";
    done += size;
  }
  if (!kept.length) throw new ReadError(noneIn(file.name, collector, cut));
  const { others, broken } = collector;
  const again = members.length > 1 ? markOlder(kept) : 0;
  return `${plural(kept.length - again, "conversation")} read from ${file.name}.${cut}`
    + (again ? ` ${plural(again, "older copy", "older copies")} of the same left out.` : "")
    + (others ? ` ${plural(others, "other object")} in it ${others === 1 ? "is" : "are"} no conversation.` : "")
    + (broken ? ` ${plural(broken, "conversation")} could not be read.` : "");
}
// Of a conversation that stands in several parts of an export, the newest stays; returns how many do not.
function markOlder(conversations) {
  const newest = new Map();
  for (const one of conversations) {
    const other = newest.get(one.id);
    if (one.id === null) continue;
    if (other && (one.updated ?? -Infinity) <= (other.updated ?? -Infinity)) one.older = true;
    else {
      if (other) other.older = true;
      newest.set(one.id, one);
    }
  }
  return conversations.filter(({ older }) => older).length;
}
function noneIn(name, { elements, broken }, cut) {
  if (cut || broken) return `${name} is cut off or no valid JSON: no whole conversation is in it. Download it again.`;
  if (!elements) return `${name} has no conversation in it: its list is empty.`;
  return `${name} has no conversation in a format that this page knows: an export of ChatGPT or Claude, or messages with role and content. The command reads more: contextlab trace FILE.`;
}

// For the tests: all conversations of a text, at once.
function readAll(text) {
  const found = [];
  const collector = new Collector((one) => found.push(one));
  if (/^\s*[[{]/.test(text)) {
    for (const element of new Splitter().push(`${text}\n`)) collector.take(element);
    collector.end();
  } else collector.give("transcript", readTranscript(text), () => readTranscript(text));
  return found.map(({ title, turns, read }) => ({ title, turns, messages: read().map(({ role, text: said, calls }) => [role, said, calls]) }));
}
