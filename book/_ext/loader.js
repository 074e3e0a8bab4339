"use strict";
// Brings the widgets of a page to life: no kernel, no request, also from a disk. The page holds one line of JSON for
// each widget; the module of the family has defined itself in `contextlabModules` under its hash.
(() => {
  const root = document.documentElement;
  const say = (place, text) => {
    place.classList.add("clw-failed");
    const note = document.createElement("p");
    note.className = "clw-note";
    note.textContent = text;
    place.querySelector(".clw").append(note);
  };
  const start = () => {
    const places = [...document.querySelectorAll(".clw-place")];
    const sheet = document.getElementById("contextlab-widgets");
    const family = sheet && (window.contextlabModules || {})[sheet.dataset.module];
    const models = new Map();
    // A line that is cut off costs its own widget only.
    for (const line of sheet ? sheet.textContent.split("\n") : []) {
      try {
        const record = JSON.parse(line);
        models.set(record.uid, family.model(record));
      } catch (_) {
        continue;
      }
    }
    const find = (uid) => models.get(uid) || Promise.reject(new Error(`no widget ${uid} on this page`));
    for (const place of places) {
      const model = models.get(place.dataset.clw);
      if (!model) {
        say(place, "This widget could not start: a part of the page is missing. Its text form stays.");
        continue;
      }
      const kept = [...place.childNodes];
      Promise.resolve()
        .then(() => family.render({ model, el: place, find }))
        .catch((error) => {
          place.replaceChildren(...kept);
          say(place, "This widget could not start in your browser. Its text form stays.");
          console.warn(`widget ${place.dataset.clw}: ${error && error.message}`);
        });
    }
    window.contextlabReady = true;
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
  root.classList.add("clw-js");
})();
