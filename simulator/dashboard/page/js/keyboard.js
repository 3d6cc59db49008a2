// Keyboard shortcuts. They are inactive while the user types, and with Ctrl, Alt or Meta, which the browser uses.
import { advance } from "./clockbar.js";
import { ask, closeDialog, doing } from "./ui.js";
import { go, route } from "./navigation.js";
import { html } from "./lib.js";

const AFTER_G_MS = 1500;

/** The rows of panels.js, passed by main.js. An import would be circular, because the overview imports `showKeys`. */
let panels = [];

/** The shortcuts and their descriptions, for the help dialog. */
const HELP = [
  ["/", "search everything"],
  ["j k", "next and previous row"],
  ["Enter", "open the selected row"],
  ["Esc", "close the dialog or detail, leave a field"],
  [".", "advance the clock to the next timer"],
  ["?", "show keyboard shortcuts"],
];

export function showKeys() {
  ask({ title: "Keys", body: () => html`<dl class="keys">${[...HELP, ...panels.filter((panel) => panel.key).map((panel) => [`g ${panel.key}`, `go to ${panel.title}`])].map(
    ([keys, does]) => html`<div><dt>${keys.split(" ").map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${does}</dd></div>`)}</dl>` });
}

const isTyping = (element) => element?.matches?.("input, textarea, select, [contenteditable]");
const rows = () => [...document.querySelectorAll("main [data-row]")].filter((row) => row.offsetParent !== null);

function step(by) {
  const all = rows();
  if (!all.length) return;
  const present = all.findIndex((row) => row.contains(document.activeElement)), open = all.findIndex((row) => row.getAttribute("aria-current") === "true");
  const from = present >= 0 ? present : open;
  const next = all[from < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(from + by, 0), all.length - 1)];
  (next.querySelector("a") || next).focus();
  next.scrollIntoView({ block: "nearest" });
}

/** Close the open detail. Dialogs close themselves. */
function leave() {
  const { panel, rest, query } = route.get();
  if (rest.length) go(panel, [], query);
}

let afterG = 0;
/** The function for a key, or null if the key has no function here. */
function meant(key, wallMs) {
  if (wallMs - afterG < AFTER_G_MS) {
    afterG = 0;
    const panel = panels.find((one) => one.key === key);
    return panel ? () => go(panel.id) : null;
  }
  const keys = {
    "/": () => document.getElementById("search")?.focus(),
    j: () => step(1),
    k: () => step(-1),
    Escape: leave,
    ".": () => doing(() => advance({ to_next_timer: true })),
    "?": showKeys,
    g: () => { afterG = wallMs; },
  };
  return keys[key] || null;
}

/** Listen for shortcuts. `all`: the rows of panels.js, some of which have a `key`. */
export function listenToKeys(all) {
  panels = all;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open], .cover")) {
      if (event.key === "Escape" && document.querySelector("dialog[open]")) closeDialog();
      return;
    }
    if (isTyping(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const does = meant(event.key, Date.now());
    if (!does) return;
    event.preventDefault();
    does();
  });
}
