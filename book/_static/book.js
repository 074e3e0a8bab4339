"use strict";
// What a page does besides being read: open the contents on a narrow screen, switch between light and dark,
// mark the section that is being read, copy the code of a cell, let wide code be scrolled by keyboard, and repeat
// the words of a search in its field.
(() => {
  const root = document.documentElement;

  const toggle = document.querySelector(".contents-toggle");
  const contents = document.getElementById("contents");
  if (toggle && contents) {
    const show = (open) => {
      toggle.setAttribute("aria-expanded", String(open));
      contents.classList.toggle("open", open);
    };
    toggle.addEventListener("click", () => show(toggle.getAttribute("aria-expanded") !== "true"));
    contents.addEventListener("click", (event) => event.target.closest("a") && show(false));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && toggle.getAttribute("aria-expanded") === "true") {
        show(false);
        toggle.focus();
      }
    });
  }

  const NAMES = { auto: "as the system", light: "light", dark: "dark" };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const button = document.querySelector("button.mode");
  const apply = (mode) => {
    root.dataset.mode = mode;
    root.dataset.theme = mode === "dark" || (mode === "auto" && system.matches) ? "dark" : "light";
    if (button) button.querySelector("span").textContent = NAMES[mode];
  };
  const current = () => (root.dataset.mode in NAMES ? root.dataset.mode : "auto");
  apply(current());
  system.addEventListener("change", () => apply(current()));
  if (button) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const order = ["auto", "light", "dark"];
      const mode = order[(order.indexOf(current()) + 1) % order.length];
      try {
        localStorage.setItem("mode", mode);
      } catch (_) {
        // A browser that stores nothing still switches this page.
      }
      apply(mode);
    });
  }

  // The contents show the open page, and in it the section that is being read.
  const head = document.querySelector(".frame-head");
  const open = head && head.querySelector("li.toctree-l1.current");
  if (open) {
    if (open.offsetTop > head.clientHeight * 0.7) head.scrollTop = open.offsetTop - head.clientHeight * 0.2;
    const links = new Map();
    for (const link of open.querySelectorAll("li.toctree-l2 > a[href^='#']")) {
      const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
      if (section) links.set(section, link);
    }
    const seen = new Set();
    const watch = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) seen[entry.isIntersecting ? "add" : "delete"](entry.target);
        const first = [...links.keys()].find((section) => seen.has(section));
        for (const [section, link] of links) {
          if (section === first) link.setAttribute("aria-current", "location");
          else link.removeAttribute("aria-current");
        }
      },
      { rootMargin: "-15% 0px -70% 0px" },
    );
    for (const section of links.keys()) watch.observe(section);
  }

  // The clipboard exists on https and on this machine, not in a file opened from disk: no button without it.
  if (navigator.clipboard) {
    for (const block of document.querySelectorAll(".bd-article .highlight")) {
      if (block.closest(".cell_output")) continue;
      const copy = document.createElement("button");
      copy.type = "button";
      copy.className = "copy";
      copy.textContent = "Copy";
      copy.addEventListener("click", async () => {
        const text = block.querySelector("pre").textContent.trimEnd() + "\n";
        try {
          await navigator.clipboard.writeText(text);
          copy.textContent = "Copied";
        } catch (_) {
          copy.textContent = "Not allowed";
        }
        setTimeout(() => (copy.textContent = "Copy"), 1500);
      });
      block.append(copy);
    }
  }

  // Whatever scrolls sideways can be reached and scrolled by keyboard.
  const scrollers = document.querySelectorAll(".bd-article :is(pre, .text_html, div.math, figure)");
  const reach = () => {
    for (const one of scrollers) {
      if (one.scrollWidth > one.clientWidth + 1) one.tabIndex = 0;
      else one.removeAttribute("tabindex");
    }
  };
  reach();
  addEventListener("resize", reach);

  const query = new URLSearchParams(location.search).get("q");
  const field = document.getElementById("q");
  if (query && field) field.value = query;
})();
