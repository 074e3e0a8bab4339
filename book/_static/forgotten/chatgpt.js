// Twin of contextlab.histories.chatgpt and .trees: a tree of nodes, and a pointer to the message shown last.

// The keys from the root to `end`; a loop and a missing parent end the way.
function upFrom(parents, end) {
  const path = [];
  const seen = new Set();
  while (end !== null && !seen.has(end) && parents.has(end)) {
    seen.add(end);
    path.push(end);
    end = parents.get(end);
  }
  return path.reverse();
}
function endsOf(parents) {
  const inner = new Set(parents.values());
  return [...parents.keys()].filter((key) => !inner.has(key));
}
// The end with the largest time, then the greatest depth, then the last in the file.
function newestEnd(ends, parents, timeOf) {
  if (ends.length < 2) return ends.length ? ends[0] : [...parents.keys()].at(-1) ?? null;
  const rank = ends.map((end) => [end, timeOf(end) ?? -Infinity, upFrom(parents, end).length]);
  return rank.reduce((best, one) => (one[1] > best[1] || (one[1] === best[1] && one[2] >= best[2]) ? one : best))[0];
}

const GPT_ROLES = { user: "user", human: "user", assistant: "assistant", ai: "assistant", system: "system", tool: "tool" };
const THINKING = ["thoughts", "reasoning_recap"];

function readChatGPT(element, draft) {
  draft.about({ title: element.title, created: element.create_time, updated: element.update_time });
  if (!isObject(element.mapping)) {
    draft.broken = true;
    return;
  }
  const nodes = new Map(Object.entries(element.mapping).filter(([, node]) => isObject(node)));
  const parents = new Map([...nodes].map(([key, { parent }]) => [key, asText(parent) || null]));
  const ends = endsOf(parents);
  let current = element.current_node;
  if (typeof current !== "string" || !nodes.has(current)) current = newestEnd(ends, parents, (end) => seconds(asDict(nodes.get(end).message).create_time));
  const seen = new Set();
  for (const key of upFrom(parents, current)) {
    const { message } = nodes.get(key);
    if (!isObject(message) || seen.has(message.id)) continue;
    if (asText(message.id)) seen.add(message.id);
    gptMessage(message, draft);
  }
}

function gptMessage(message, draft) {
  const [author, metadata, { content }] = [asDict(message.author), asDict(message.metadata), message];
  const given = (asText(author.role) || asText(message.role)).toLowerCase();
  let role = Object.hasOwn(GPT_ROLES, given) ? GPT_ROLES[given] : null;
  if (!role) return;
  const recipient = asText(message.recipient) || "all";
  let [kind, shown, text, parts, images] = ["message", "text", "", false, false];
  if (isObject(content)) {
    shown = asText(content.content_type) || "text";
    if (shown === "text" && Array.isArray(content.parts) && content.parts.length === 1 && typeof content.parts[0] === "string") [text] = content.parts;
    else [kind, text, parts, images] = gptContent(content, shown);
  } else if (typeof content === "string" || Array.isArray(content)) {
    const inner = new Content(content);
    [text, parts, images] = [inner.text, inner.parts, inner.images];
  } else if (content !== null && content !== undefined) return;
  text = unmarked(text, metadata);
  if (role === "user") {
    const inner = new Content([]);
    for (const one of asList(metadata.attachments).map(asDict)) {
      if (!asText(some(one.mime_type, one.mimeType)).startsWith("image/") || !images) inner.mark("attachment", one.name);
    }
    if (inner.parts) [parts, text] = [true, lines([text, inner.text])];
  }
  let hidden = metadata.is_visually_hidden_from_conversation === true ? true : null;
  if (kind === "custom_instructions" || kind === "memory" || metadata.is_user_system_message === true) {
    role = "system";
    if (kind === "message") kind = "custom_instructions";
  } else if (role === "user" && hidden) role = "system";
  let calls = [];
  if (role === "assistant" && recipient !== "all" && kind !== "reasoning" && text) {
    calls = [callOf(recipient, text)];
    kind = recipient.startsWith("canmore") ? "canvas" : recipient === "bio" ? "memory" : "tool_call";
    [text, hidden, parts] = ["", true, false];
  } else if (THINKING.includes(shown)) [role, kind] = ["assistant", "reasoning"];
  else if (role === "tool" && !kind.startsWith("other:")) kind = "tool_result";
  draft.add(role, text, { parts, calls, hidden, kind });
}

// [kind, text, whether there are parts, whether one is an image] of a content that is more than one text.
function gptContent(content, shown) {
  const texts = (...keys) => keys.map((key) => asText(content[key]));
  const orAny = (kind, text) => [kind, text || anyText(content), false, false];
  if (shown === "text" || shown === "multimodal_text") {
    const inner = new Content(Array.isArray(content.parts) ? content.parts : asText(content.text));
    return ["message", inner.text, inner.parts, inner.images];
  }
  if (shown === "user_editable_context") return orAny("custom_instructions", texts("user_profile", "user_instructions").filter(Boolean).join("\n\n"));
  if (shown === "model_editable_context") return orAny("memory", asText(content.model_set_context));
  if (THINKING.includes(shown)) return orAny("reasoning", lines(asList(content.thoughts).map(asDict).flatMap((one) => [asText(one.summary), asText(one.content)])));
  if (["tether_quote", "sonic_webpage", "tether_browsing_display"].includes(shown)) return orAny("message", lines(texts("title", "url", "result", "text", "snippet", "summary")));
  if (["code", "execution_output", "system_error"].includes(shown)) return orAny("message", asText(content.text));
  return [`other:${shown}`, anyText(content), false, false];
}
function anyText(content) {
  for (const key of ["text", "result", "content"]) if (asText(content[key])) return content[key];
  const text = lines(asList(content.parts).map((one) => asText(one) || asText(asDict(one).text)));
  const rest = Object.entries(content).filter(([key, value]) => key !== "content_type" && key !== "parts" && truthy(value));
  return text || (rest.length && !THINKING.includes(content.content_type) ? compact(Object.fromEntries(rest)) : "");
}

// A text without the marks of citations; the name in an entity mark stays.
function unmarked(given, metadata) {
  const text = given.replace(/\ue200([^\ue200\ue201\ue202]*)(?:\ue202([^\ue200\ue201]*))?\ue201/g, (_, what, inside) => {
    const names = what === "entity" ? [...(inside || "").matchAll(/"((?:[^"\\]|\\[^\n])*)"/g)].map((one) => one[1]) : [];
    return names[1] ?? names[0] ?? "";
  }).replace(/[\ue200-\ue206]/g, "");
  return truthy(metadata.citations) ? text.replace(/【[0-9]+(?::[0-9]+)?†[^【】]*】/g, "") : text;
}
