// Light or dark: as the system has it, or as was chosen here once.
import { html, useState } from "./lib.js";

const CHOICES = { system: "As the system", light: "Light", dark: "Dark" };
const KEY = "simulator-scheme";

function kept() {
  try { return localStorage.getItem(KEY) in CHOICES ? localStorage.getItem(KEY) : "system"; } catch { return "system"; }
}

function apply(choice) {
  if (choice === "system") delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = choice;
}

apply(kept());

export function SchemeChoice() {
  const [choice, set] = useState(kept());
  const choose = (event) => {
    set(event.target.value);
    apply(event.target.value);
    try { localStorage.setItem(KEY, event.target.value); } catch { /* it then holds for this visit */ }
  };
  return html`<select class="scheme" aria-label="Colours" value=${choice} onChange=${choose}>${Object.entries(CHOICES).map(
    ([value, words]) => html`<option value=${value}>${words}</option>`)}</select>`;
}
