// The navigation: the panels of a first visit, and the others behind "More".
import { html, useEffect, useState } from "./lib.js";
import { grouped } from "./format.js";
import { href } from "./routes.js";

const KEY = "simulator-more";
const NARROW = matchMedia("(max-width: 50rem)"); // on narrow screens the navigation is a strip

function saved() {
  try { return localStorage.getItem(KEY) === "open"; } catch { return false; }
}

/** `panels`: the rows of panels.js. `present`: the current panel. */
export function Rail({ panels, present }) {
  const [open, setOpen] = useState(saved() && !NARROW.matches);
  useEffect(() => {
    if (NARROW.matches) setOpen(false);
  }, [present]);
  // On a phone, the strip can be wider than the screen.
  useEffect(() => document.querySelector(".rail [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }), [present, open]);
  const toggle = () => {
    setOpen(!open);
    try { localStorage.setItem(KEY, open ? "" : "open"); } catch { /* it then holds for this visit */ }
  };
  const shown = panels.filter((one) => open || !one.more || one === present);
  return html`<nav class="rail" aria-label="Panels" data-open=${open ? "" : null}>${grouped(shown, (one) => one.group).map(([group, rows]) => html`<section key=${group} aria-label=${group || null}>${group ? html`<h2>${group}</h2>` : ""}<ul>${rows.map(
    (one) => html`<li key=${one.id}><a href=${href(one.id)} aria-current=${one === present ? "page" : null}>${one.title}</a></li>`)}</ul></section>`)}
    <section><button type="button" class="bare" aria-expanded=${open ? "true" : "false"} onClick=${toggle}>${open ? "Fewer" : "More"}</button></section>
    <section aria-label="Help"><ul><li><a href="docs">Documentation</a></li></ul></section></nav>`;
}
