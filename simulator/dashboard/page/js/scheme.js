// The colour scheme, light or dark: the system's setting, or the user's choice in this browser.
import { html, useState } from "./lib.js";

const CHOICES = [
  { name: "system", words: "system", icon: "M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2Z M8 2v12 M8 5h4.8 M8 8h6 M8 11h4.8" },
  { name: "light", words: "light", icon: "M8 5a3 3 0 1 0 0 6 3 3 0 1 0 0-6Z M8 1v1.6 M8 13.4V15 M1 8h1.6 M13.4 8H15 M3 3l1.2 1.2 M11.8 11.8 13 13 M13 3l-1.2 1.2 M4.2 11.8 3 13" },
  { name: "dark", words: "dark", icon: "M13.5 9.7A6 6 0 0 1 6.3 2.5a6 6 0 1 0 7.2 7.2Z" },
];
const KEY = "simulator-scheme";

function kept() {
  let name = null;
  try { name = localStorage.getItem(KEY); } catch { /* nothing is kept here */ }
  return CHOICES.find((choice) => choice.name === name) || CHOICES[0];
}

function apply({ name }) {
  if (name === "system") delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = name;
}

apply(kept());

/** A button that switches to the next scheme. */
export function SchemeChoice() {
  const [choice, set] = useState(kept());
  const next = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
  const change = () => {
    set(next);
    apply(next);
    try { localStorage.setItem(KEY, next.name); } catch { /* it then holds for this visit */ }
  };
  return html`<button type="button" class="icon" aria-label=${`Colours: ${choice.words}. Switch to ${next.words}`} title=${`Colours: ${choice.words}`} onClick=${change}>
    <svg viewBox="0 0 16 16" aria-hidden="true"><path d=${choice.icon} /></svg></button>`;
}
