// The ground of the family: elements, storage, models of a page without a kernel.

const SVG = "http://www.w3.org/2000/svg";

// Traits that the reader's work changes, with the value from which each starts.
const START = {
  answer: null, solved: false, tries: 0, wrong: 0, hints: 0, variant: 0, slip: "",
  stage: "", sure: null, why: "", ticks: [], draft: null, settings: {}, step: 0,
};
const KEPT = ["answer", "solved", "tries", "wrong", "hints", "variant", "slip", "stage", "sure", "why", "ticks", "draft"];

const same = (a, b) => a === b || JSON.stringify(a) === JSON.stringify(b);

// h("p", {class: "x", onclick: f}, "text", child): null and false attributes are left out.
function make(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "html") node.innerHTML = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}
const h = (tag, attributes, ...children) => make(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => make(document.createElementNS(SVG, tag), attributes, children);

let counter = 0;
const newId = (name) => `clw-${name}-${++counter}`;

// 12345 -> "12,345"; works for numbers, BigInts and decimal strings.
function group(value) {
  const [whole, fraction] = String(value).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",").replace(/^-/, "\u2212");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
const plural = (count, one, many) => `${group(count)} ${Number(count) === 1 ? one : many || one + "s"}`;

// One address for everything that happens to exercises on this page: progress listens.
const bus = new EventTarget();
const live = new Map();

// What a reader has done, kept in this browser. When the browser refuses, it is kept while the page is open.
const store = {
  prefix: "contextlab:",
  kept: true,
  memory: new Map(),
  read(uid) {
    if (this.memory.has(uid)) return this.memory.get(uid);
    try {
      return clean(JSON.parse(localStorage.getItem(this.prefix + uid)));
    } catch {
      return null;
    }
  },
  write(uid, value) {
    this.memory.set(uid, value);
    try {
      localStorage.setItem(this.prefix + uid, JSON.stringify(value));
    } catch {
      this.kept = false;
    }
    bus.dispatchEvent(new CustomEvent("work", { detail: uid }));
  },
  all() {
    const found = {};
    try {
      for (let i = 0; i < localStorage.length; i++) {
        const key = localStorage.key(i);
        if (!key.startsWith(this.prefix)) continue;
        const value = this.read(key.slice(this.prefix.length));
        if (value) found[key.slice(this.prefix.length)] = value;
      }
    } catch {
      this.kept = false;
    }
    for (const [uid, value] of this.memory) if (value) found[uid] = value;
    return found;
  },
  reset() {
    for (const uid of Object.keys(this.all())) {
      try {
        localStorage.removeItem(this.prefix + uid);
      } catch {
        this.kept = false;
      }
    }
    this.memory.clear();
    bus.dispatchEvent(new CustomEvent("reset"));
  },
  check() {
    try {
      localStorage.setItem(this.prefix, "");
      localStorage.removeItem(this.prefix);
    } catch {
      this.kept = false;
    }
    return this.kept;
  },
};

// Stored work that is not of the expected form is as good as none: it may be cut off or from elsewhere.
function clean(value) {
  if (!value || typeof value !== "object" || Array.isArray(value)) return null;
  const good = {};
  for (const name of KEPT) {
    if (!(name in value)) continue;
    const start = START[name];
    const loose = start === null;
    if (name === "sure" ? typeof value[name] === "boolean" : loose || typeof value[name] === typeof start) {
      if (Array.isArray(start) && !(Array.isArray(value[name]) && value[name].every(Number.isInteger))) continue;
      if (typeof start === "number" && !(Number.isInteger(value[name]) && value[name] >= 0)) continue;
      good[name] = value[name];
    }
  }
  return good;
}

// The model of a widget on a page without a kernel: the part of anywidget's model that the family uses.
class PageModel {
  constructor(record) {
    this.values = { ...structuredClone(START), ...record };
    Object.assign(this.values, store.read(record.uid));
    this.start = { ...structuredClone(START), ...record };
    this.listeners = new Map();
    bus.addEventListener("reset", () => {
      for (const name of KEPT) this.set(name, structuredClone(START[name]));
    });
  }
  get(name) {
    return this.values[name];
  }
  set(name, value) {
    if (same(this.values[name], value)) return;
    this.values[name] = value;
    for (const event of [`change:${name}`, "change"]) {
      for (const listener of [...(this.listeners.get(event) || [])]) listener();
    }
  }
  on(event, listener) {
    if (!this.listeners.has(event)) this.listeners.set(event, new Set());
    this.listeners.get(event).add(listener);
  }
  off(event, listener) {
    this.listeners.get(event)?.delete(listener);
  }
  save_changes() {}
}

// Change several traits, tell Python when there is one, and keep an exercise's work in the browser.
function commit(model, changes) {
  for (const [name, value] of Object.entries(changes)) model.set(name, value);
  model.save_changes();
  if (model instanceof PageModel) {
    if (model.get("data").exercise) {
      const work = {};
      for (const name of KEPT) if (!same(model.get(name), START[name])) work[name] = model.get(name);
      store.write(model.get("uid"), work);
    }
  } else {
    bus.dispatchEvent(new CustomEvent("work", { detail: model.get("uid") }));
  }
}

// Call `update` once now and after every change of one of the traits.
function follow(model, names, update, signal) {
  for (const name of names) model.on(`change:${name}`, update);
  signal?.addEventListener("abort", () => {
    for (const name of names) model.off(`change:${name}`, update);
  });
  update();
}

function button(text, onclick, attributes) {
  return h("button", { type: "button", class: "clw-button", onclick, ...attributes }, text);
}

// Many changes within one frame are drawn once.
function soon(draw) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
}
