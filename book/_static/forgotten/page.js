// The page: a file or a text comes in, a conversation is chosen, the trace is shown. Nothing leaves the page.

const EXAMPLE = "User: My boat is called Plover. She is a wooden dinghy.\n\nAssistant: A fine name.\n";
const MOST_LISTED = 500;

function field(label, control, help) {
  control.id = newId("field");
  const helpId = help ? newId("help") : null;
  if (help) control.setAttribute("aria-describedby", helpId);
  return h("div", { class: "clw-field" }, h("label", { for: control.id }, label), control,
    help ? h("p", { class: "clw-small", id: helpId }, help) : null);
}
// A number from a field: digits only, because "1,024" and "1.024" mean different numbers in two countries.
function wholeNumber(text, what, least) {
  if (!/^\d{1,9}$/.test(text)) throw new ReadError(`${what}: write a whole number in digits, without commas or points. You wrote “${text}”.`);
  if (Number(text) < least) throw new ReadError(`${what}: at least ${least}, you wrote ${text}.`);
  return Number(text);
}

function tracePage(el) {
  let conversations = [];
  let running = 0; // a later run ends an earlier one
  const file = h("input", { type: "file", accept: ".json,.jsonl,.zip,.txt,.md", onchange: () => file.files[0] && open(file.files[0]) });
  const drop = h("div", { class: "clw-drop" }, field("An export: the zip, or a JSON or text file", file, "Or drop the file here."));
  const paste = h("textarea", { class: "clw-why", rows: 5, spellcheck: "false", placeholder: EXAMPLE });
  const read = button("Read this text", () => {
    const text = paste.value;
    if (!text.trim()) return say("There is no text yet: paste a conversation first.", true);
    open(new File([text], "the pasted text"));
  });
  const status = h("p", { class: "clw-sentence", role: "status" }, "No file yet.");
  const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Progress" });
  const stop = button("Stop", () => {
    running++;
    ready();
    say("Stopped. What was read so far is below.");
    list();
  }, { hidden: true });

  const pick = h("select", { class: "clw-form-pick", onchange: () => trace() });
  const counter = h("select", { class: "clw-form-pick", onchange: () => trace() },
    h("option", { value: "pieces" }, "word pieces"), h("option", { value: "chars" }, "characters ÷ 4"));
  const windows = h("input", { type: "text", class: "clw-number", inputmode: "numeric", autocomplete: "off", value: "4096 8192 32768" });
  const reserve = h("input", { type: "text", class: "clw-number", inputmode: "numeric", autocomplete: "off", value: "0" });
  const facts = h("textarea", { class: "clw-why", rows: 2, spellcheck: "false" });
  const form = h("form", { class: "clw-form", hidden: true, novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    trace();
  } },
  field("Conversation", pick), field("Counter", counter),
  field("Context windows, in units", windows, "Several are separated by spaces."),
  field("Reply reserve, in units", reserve),
  field("Your own fact, as you wrote it", facts, "One a line. Without any: your first message, and what the patterns of chapter 09 find."),
  h("div", { class: "clw-actions" }, h("button", { type: "submit", class: "clw-button clw-main" }, "Trace")));
  const shown = h("div", {});

  const say = (text, wrong = false) => {
    status.textContent = text;
    status.classList.toggle("clw-wrong", wrong);
  };
  const ready = () => {
    bar.hidden = stop.hidden = true;
  };
  const working = () => {
    const mine = ++running;
    bar.removeAttribute("value");
    bar.hidden = stop.hidden = false;
    return () => mine !== running;
  };

  async function open(chosen) {
    const stopped = working();
    conversations = [];
    form.hidden = true;
    shown.replaceChildren();
    say(`Reading ${chosen.name}.`);
    try {
      const report = await readFile(chosen, (found) => conversations.push(found), (part) => {
        bar.value = part;
        say(`Reading ${chosen.name}: ${Math.round(100 * part)} %, ${plural(conversations.length, "conversation")}.`);
      }, stopped);
      if (stopped()) return;
      ready();
      say(report);
      list();
    } catch (error) {
      if (stopped()) return;
      ready();
      if (!(error instanceof ReadError)) console.warn(error);
      say(error instanceof ReadError ? error.message : `${chosen.name} could not be read: ${error.message}`, true);
      list();
    }
  }

  function list() {
    form.hidden = !conversations.length;
    if (!conversations.length) return;
    const order = conversations.flatMap((one, i) => (one.older ? [] : [i])).sort((a, b) => (conversations[b].updated ?? -1) - (conversations[a].updated ?? -1) || b - a);
    pick.replaceChildren(...order.slice(0, MOST_LISTED).map((i) => h("option", { value: i },
      `${shortened(conversations[i].title, 50) || "without a title"} (${plural(conversations[i].turns, "turn")})`)));
    trace();
  }

  async function trace() {
    const stopped = working();
    shown.replaceChildren();
    try {
      const one = conversations[Number(pick.value)];
      const options = {
        counter: counter.value,
        windows: windows.value.trim().split(/[,;]?\s+/).map((text) => wholeNumber(text, "Context windows", 1)),
        reply_reserve: wholeNumber(reserve.value.trim(), "Reply reserve", 0),
        facts: facts.value.split("\n").map((text) => text.trim()).filter(Boolean),
        title: one.title,
      };
      const found = await inSlices(lookBackSteps(one.read(), options), stopped);
      ready();
      const { chat, ...rest } = found;
      const fitting = found.windows.filter((window) => !window.why);
      const tooSmall = found.windows.filter((window) => window.why).map(({ why }) => h("p", { class: "clw-wrong", role: "alert" }, why));
      shown.append(...tooSmall);
      if (!fitting.length) return;
      const place = h("div", {});
      shown.append(place);
      traceView(place, { ...rest, windows: fitting, blocks: chat.history.map(({ role, text }, i) => [role, chat.prefix[i + 1] - chat.prefix[i], chat.turns[i], text.slice(0, 400)]) });
    } catch (error) {
      if (stopped()) return;
      ready();
      if (!(error instanceof ReadError)) console.warn(error);
      shown.replaceChildren(h("p", { class: "clw-wrong", role: "alert" }, error.message));
    }
  }

  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add("clw-over");
    });
  }
  for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("clw-over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
  });
  const id = newId("trace-page");
  el.replaceChildren(h("div", { class: "clw clw-live", role: "group", "aria-labelledby": id },
    h("p", { class: "clw-title", id }, "Your conversation"),
    drop, field("Or a conversation as text", paste, "Each message begins with who speaks, at the start of a line: “User:”, “Assistant:”."),
    h("div", { class: "clw-actions" }, read),
    status, h("div", { class: "clw-row" }, bar, stop), form), shown);
}
