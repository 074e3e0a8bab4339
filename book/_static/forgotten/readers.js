// Twin of contextlab.histories.claude, .api.read_chat and .transcripts.

const CLAUDE_ROLES = { human: "user", user: "user", assistant: "assistant", system: "system", tool: "tool" };

function readClaude(element, draft) {
  draft.about({ title: element.name, created: element.created_at, updated: element.updated_at });
  const said = (message) => truthy(message.text) || truthy(message.content);
  const rows = new Map(); // the first of several messages with one uuid keeps its place
  element.chat_messages.forEach((message, index) => {
    if (!isObject(message)) return;
    const own = asText(message.uuid) || index;
    if (!rows.has(own) || (!said(rows.get(own)) && said(message))) rows.set(own, message);
  });
  for (const key of claudeBranch(rows, element.current_leaf_message_uuid)) claudeMessage(rows.get(key), draft);
}
// By parents when any can be used, else all in the order of the array.
function claudeBranch(rows, current) {
  const parents = new Map([...rows].map(([key, { parent_message_uuid: parent }]) => [key, typeof parent === "string" && rows.has(parent) ? parent : null]));
  const keys = [...rows.keys()];
  if (![...parents.values()].some((parent) => parent !== null)) return keys;
  return upFrom(parents, typeof current === "string" && rows.has(current) ? current : keys.at(-1));
}
function claudeMessage(message, draft) {
  const sender = asText(message.sender) || asText(message.role);
  if (!Object.hasOwn(CLAUDE_ROLES, sender)) return;
  const role = CLAUDE_ROLES[sender];
  const text = asText(message.text);
  const blocks = typeof message.content === "string" ? [{ type: "text", text: message.content }] : [...asList(message.content)];
  if (text && !blocks.some((one) => asDict(one).type === "text" && truthy(asDict(one).text))) blocks.push({ type: "text", text });
  const attached = asList(message.attachments).map(asDict)
    .map((one) => ({ kind: "attachment", name: asText(one.file_name), text: asText(one.extracted_content) }));
  const seen = new Set(attached.map(({ name }) => name));
  for (const one of [...asList(message.files), ...asList(message.files_v2)].map(asDict)) {
    const name = asText(one.file_name);
    if (name && seen.has(name)) continue;
    seen.add(name);
    attached.push({ kind: one.file_kind === "image" ? "image" : "file", name, text: "" });
  }
  if (!attached.length && blocks.length === 1 && asDict(blocks[0]).type === "text") draft.add(role, asText(blocks[0].text));
  else draft.addMessage(role, [...blocks, ...attached.map((part) => ({ type: "contextlab_part", part }))]);
}

const CHAT_ROLES = {
  system: "system", developer: "developer", user: "user", human: "user", assistant: "assistant", ai: "assistant",
  model: "assistant", chatbot: "assistant", tool: "tool", function: "function", ipython: "tool",
};
function readOpenAI(element, draft) {
  let messages = element;
  if (!Array.isArray(element)) {
    draft.about({
      title: some(element.title, element.name),
      created: some(element.created, element.created_at, element.create_time),
      updated: some(element.updated, element.updated_at, element.update_time),
    });
    if (element.system !== null && element.system !== undefined) draft.addMessage("system", element.system);
    messages = [...element.messages, ...asList(element.preferred_output), ...asList(element.choices).slice(0, 1).map((one) => asDict(one).message)];
  }
  for (const message of messages) if (isObject(message)) chatMessage(message, draft);
}
function chatMessage(message, draft) {
  const given = asText(message.role).toLowerCase();
  if (!Object.hasOwn(CHAT_ROLES, given)) return;
  let { content } = message;
  const extra = [];
  if (asText(message.refusal)) extra.push({ type: "refusal", refusal: message.refusal });
  if (isObject(message.audio)) extra.push({ type: "audio", transcript: message.audio.transcript });
  for (const one of asList(message.images)) if (typeof one === "string") extra.push({ type: "image" });
  if (extra.length) content = [...(Array.isArray(content) ? content : truthy(content) ? [content] : []), ...extra];
  const thoughts = ["reasoning_content", "reasoning", "thinking"].map((key) => message[key])
    .filter((one) => typeof one === "string" && strip(one)).slice(0, 1);
  draft.addMessage(CHAT_ROLES[given], content ?? "", { calls: openaiCalls(message), thoughts });
}

const LABELS = {
  user: "user", human: "user", you: "user", me: "user", prompt: "user", assistant: "assistant", ai: "assistant", bot: "assistant",
  chatgpt: "assistant", claude: "assistant", gemini: "assistant", copilot: "assistant", gpt: "assistant", model: "assistant", system: "system",
};
const NAMED = Object.keys(LABELS).sort((a, b) => b.length - a.length).join("|");
const STAMP = String.raw`(?:\[?\(?\d{1,4}[-/.:]\d{1,2}(?:[-/.:]\d{1,4})?(?:[ T,]+\d{1,2}:\d{2}(?::\d{2})?(?: ?[AP]M)?)?Z?\)?\]?[ ,:\-]*)?`;
const STYLES = [
  String.raw`#{1,6} +${STAMP}\**(${NAMED})(?: said)?\**:? *\**$`,
  String.raw`${STAMP}\*\*(${NAMED})(?: said)?(?:\*\*:|:\*\*|\*\*$) *(.*)`,
  String.raw`${STAMP}(${NAMED}) said: *(.*)`,
  String.raw`${STAMP}(${NAMED}): *(.*)`,
].map((style) => AT_START(style, { ignoreCase: true }));
// The rule that found a label knows its role: "\u017fystem" matches "system", but its small letters are no key.
const ROLE_OF = Object.entries(LABELS).map(([name, role]) => [ENTIRE(name, { ignoreCase: true }), role]);
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

function readTranscript(text) {
  const rows = text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/);
  if (rows.at(-1) === "") rows.pop();
  let style = null;
  let fence = null;
  const found = [];
  const before = [];
  for (const line of rows) {
    let match = null;
    let opened = FENCE.exec(line);
    if (fence === null) {
      for (const one of style ? [style] : STYLES) {
        match = one.exec(line);
        if (!match) continue;
        style = one;
        break;
      }
    }
    if (match) {
      const rest = match[2] || "";
      found.push({ role: ROLE_OF.find(([name]) => name.test(match[1]))[1], rows: rest ? [rest] : [] });
      opened = FENCE.exec(rest);
    } else (found.length ? found.at(-1).rows : before).push(line);
    if (opened) {
      const [, mark] = opened;
      if (fence === null) fence = mark;
      else if (mark[0] === fence[0] && mark.length >= fence.length && [...strip(line)].every((sign) => sign === mark[0])) fence = null;
    }
  }
  // A title or a few lines about the chat may stand before the first label, when an empty line ends them.
  const said = before.filter(strip);
  const headed = said.length <= 8 && (!strip(before.at(-1) || "") || said.at(-1).startsWith("#"));
  if ((said.length && !headed) || new Set(found.map(({ role }) => role)).size < 2) {
    throw new ReadError("This is no transcript that the page can split: the first line has to begin with a label such as “User:” or “Assistant:”, and two speakers have to occur.");
  }
  const draft = new Draft();
  for (const { role, rows: lines_ } of found) draft.add(role, lines_.join("\n").replace(/^\n+|\n+$/g, ""));
  return draft;
}
