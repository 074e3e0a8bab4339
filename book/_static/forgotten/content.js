// Twin of contextlab.histories.content and .draft: what a message of an export says, and what it becomes.
// A message is {role, text, calls, kind, hidden}; calls are the texts of its tool calls, which cost units too.

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const asDict = (value) => (isObject(value) ? value : {});
const asList = (value) => (Array.isArray(value) ? value : []);
const asText = (value) => (typeof value === "string" ? value : "");
const truthy = (value) => Boolean(value) && !(Array.isArray(value) && !value.length) && !(isObject(value) && !Object.keys(value).length);
const some = (...values) => values.find(truthy) ?? values.at(-1); // a or b or c
const lines = (texts) => texts.filter(Boolean).join("\n");
// Half of a surrogate pair is no character.
const whole = (text) => text.replace(/\p{Cs}/gu, "\ufffd");
const isSpace = (text) => new RegExp(`^[${PYTHON_SPACE}]*$`, "u").test(text);

// A number as Python writes it: whole ones below 10^21 with all their digits.
function number(value) {
  if (!Number.isFinite(value)) return "null";
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return String(BigInt(value));
  return Math.abs(value) < 1e-4 ? value.toExponential().replace(/e-(\d)$/, "e-0$1") : String(value);
}
// json.dumps: a space behind each comma and colon.
function compact(value) {
  if (typeof value === "string") return value;
  const write = (one) => (Array.isArray(one) ? `[${one.map(write).join(", ")}]`
    : isObject(one) ? `{${Object.entries(one).map(([key, inner]) => `${JSON.stringify(key)}: ${write(inner)}`).join(", ")}}`
      : typeof one === "number" ? number(one) : JSON.stringify(one).replace(/\\u([d-f][\da-f]{3})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16))));
  return write(value);
}
// Seconds since 1970, or null: a number of seconds or milliseconds, or ISO 8601; without a zone it is UTC.
function seconds(value) {
  if (typeof value === "string" && value) {
    const zoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(value) || !value.includes(":") ? value : `${value}Z`;
    const time = Date.parse(zoned);
    return Number.isNaN(time) ? null : time / 1000;
  }
  if (typeof value !== "number" || Math.abs(value) > 1e15) return null;
  return Math.abs(value) > 1e11 ? value / 1000 : value;
}

const KINDS = {
  texts: ["text", "input_text", "output_text", "summary_text", "reasoning_text"],
  images: ["image_url", "input_image", "image", "image_file", "image_asset_pointer", "image_generation_call", "driveimage"],
  audio: ["input_audio", "audio", "audio_asset_pointer", "real_time_user_audio_video_asset_pointer"],
  video: ["video", "video_url", "video_container_asset_pointer", "drivevideo"],
  files: ["file", "input_file", "document", "drivedocument"],
  thoughts: ["thinking", "reasoning", "think", "redacted_thinking", "thought"],
  calls: ["tool_use", "tool_call", "server_tool_use", "mcp_tool_use", "function_call"],
};
const KIND_OF = new Map(Object.entries(KINDS).flatMap(([kind, names]) => names.map((name) => [name, kind])));
const ANYWHERE = ["text", "content", "result", "output", "title", "summary", "value", "data"];

const callOf = (name, args) => [whole(asText(name)) || "tool", whole(compact(args ?? {}))];

class Content {
  constructor(value) {
    Object.assign(this, { texts: [], parts: false, images: false, thoughts: [], calls: [], results: [], refused: false });
    if (typeof value === "string") this.texts.push(value);
    else for (const block of Array.isArray(value) ? value : [value]) this.block(block);
  }
  get text() {
    return lines(this.texts);
  }
  mark(kind, name, text = "") {
    this.parts = true; // a part that is no text
    this.images ||= kind === "image";
    const shown = kind.replace(/^other:/, "");
    const called = whole(asText(name));
    this.texts.push(whole(text) || (called ? `[${shown}: ${called}]` : `[${shown}]`));
  }
  block(block) {
    if (typeof block === "string") return void this.texts.push(whole(block));
    if (!isObject(block)) {
      const names = { boolean: "bool", number: Number.isInteger(block) ? "int" : "float", object: "list" };
      if (block !== null && block !== undefined) this.mark(`other:${names[typeof block]}`, null, compact(block));
      return;
    }
    const kind = asText(some(block.type, block.block_type, block.content_type));
    const low = kind.toLowerCase();
    const family = KIND_OF.get(low);
    if (family === "texts" || (!kind && typeof block.text === "string")) {
      const text = isObject(block.text) ? asText(block.text.value) : asText(block.text) || asText(block.content);
      this.texts.push(whole(text));
    } else if (low === "contextlab_part") this.mark(block.part.kind, block.part.name, block.part.text); // what Claude's export keeps beside the content
    else if (low === "audio_transcription") this.texts.push(whole(asText(block.text)));
    else if (low === "refusal") {
      this.refused = true;
      this.mark("refusal", null, asText(block.refusal));
    } else if (family === "images") this.mark("image", some(block.name, block.file_name));
    else if (family === "audio") this.mark("audio", block.name, asText(block.transcript) || asText(asDict(some(block.input_audio, block.audio)).transcript));
    else if (family === "video") this.mark("video", block.name);
    else if (family === "files") {
      const source = asDict(block.source);
      this.mark("file", some(block.filename, asDict(block.file).filename, block.title, block.name), source.type === "text" ? asText(source.data) : "");
    } else if (family === "thoughts") {
      let text = some(block.thinking, block.text, block.content, block.reasoning);
      if (typeof text !== "string") text = some(block.think, text, block.summary);
      this.thoughts.push(isObject(text) ? compact(text) : new Content(truthy(text) ? text : "").text);
    } else if (family === "calls") this.call(block);
    else if (isResult(block)) this.result(block);
    else {
      const key = ANYWHERE.find((one) => typeof block[one] === "string" && block[one]);
      this.mark(`other:${kind || "object"}`, null, key ? block[key] : asList(block.parts).filter((one) => typeof one === "string").join("\n"));
    }
  }
  call(block) {
    const inner = some(block.tool_call, block.function, block.functionCall);
    const call = isObject(inner) ? { ...block, ...inner } : block;
    const own = asDict(call.function);
    const key = ["input", "arguments", "args", "tool_kwargs", "partial_json"].find((one) => call[one] !== undefined && call[one] !== null);
    this.calls.push(callOf(some(call.name, call.tool_name, own.name), key ? call[key] : own.arguments));
    if (typeof call.output === "string" && call.output) this.results.push({ text: call.output, parts: false });
  }
  result(block) {
    const inner = new Content(block.content ?? block.output ?? "");
    this.thoughts.push(...inner.thoughts);
    this.results.push({ text: inner.text || (truthy(block.is_error) ? "[error]" : "[no output]"), parts: inner.parts });
  }
}
function isResult(block) {
  const kind = asText(asDict(block).type).toLowerCase();
  return kind === "tool_result" || kind === "function_call_output" || kind.endsWith("_tool_result");
}
function openaiCalls(message) {
  const calls = [];
  for (const one of asList(message.tool_calls).map(asDict)) {
    const own = isObject(one.function) ? one.function : one;
    const args = own.arguments ?? ("args" in own ? own.args : own.input);
    if (truthy(own.name) || (args !== null && args !== undefined)) calls.push(callOf(own.name, args));
  }
  if (isObject(message.function_call)) calls.push(callOf(message.function_call.name, message.function_call.arguments));
  return calls;
}

// A conversation while it is read.
class Draft {
  constructor() {
    Object.assign(this, { messages: [], title: "", updated: null, broken: false });
  }
  about({ title, created, updated }) {
    this.title = whole(asText(title)) || this.title;
    this.updated = seconds(updated) ?? seconds(created);
  }
  add(role, given, { parts = false, calls = [], hidden = null, kind = "message" } = {}) {
    const text = whole(given);
    if (!calls.length && !parts && isSpace(text)) return;
    const tool = role === "tool" || role === "function";
    if (kind === "message") kind = tool ? "tool_result" : calls.length && !text ? "tool_call" : kind;
    hidden ??= !["user", "assistant"].includes(role) || !(["message", "refusal", "error"].includes(kind) || kind.startsWith("other:"));
    this.messages.push({ role: tool ? "tool" : role, text, calls, kind, hidden });
  }
  addResults(content) {
    for (const { text, parts } of content.results) this.add("tool", text, { parts });
  }
  // The messages that one message of a file becomes: thoughts first, results before what a user says beside them.
  addMessage(role, value, { calls = [], thoughts = [], ...more } = {}) {
    if (typeof value === "string") {
      for (const thought of thoughts) this.add("assistant", thought, { kind: "reasoning" });
      return this.add(role, value, { calls, ...more });
    }
    const blocks = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value];
    if (role === "assistant" && blocks.some(isPlainResult)) {
      let start = 0;
      [...blocks, { type: "tool_result" }].forEach((block, index) => {
        if (!isPlainResult(block)) return;
        const last = index === blocks.length;
        if (index > start || (last && calls.length)) {
          this.addMessage(role, blocks.slice(start, index), { calls: last ? calls : [], thoughts, ...more });
          thoughts = [];
        }
        if (!last) this.addResults(new Content([block]));
        start = index + 1;
      });
      return undefined;
    }
    const content = new Content(blocks);
    for (const thought of [...thoughts, ...content.thoughts]) this.add("assistant", thought || "[reasoning]", { kind: "reasoning" });
    const parts = content.parts;
    if (role === "tool" || role === "function") {
      this.addResults(content);
      if (content.texts.length || !content.results.length) this.add(role, content.text, { parts, ...more });
      return undefined;
    }
    if (role !== "assistant") this.addResults(content);
    const all = [...content.calls, ...calls];
    if (content.texts.length || all.length || !(content.results.length || content.thoughts.length || thoughts.length)) {
      if (content.refused && (more.kind ?? "message") === "message") more.kind = "refusal";
      this.add(role, content.text, { parts, calls: all, ...more });
    }
    if (role === "assistant") this.addResults(content);
    return undefined;
  }
}
function isPlainResult(block) {
  const kind = asText(asDict(block).type);
  return kind === "tool_result" || kind === "function_call_output" || kind.endsWith("_tool_result");
}
