// The first thing that is seen: what this world is, and what to do first in a fresh one.
import { Copy, Facts, Id, Shown } from "../ui.js";
import { html, useStore } from "../lib.js";
import { useRead } from "../live.js";
import { world } from "../api.js";

export function View() {
  const id = useStore(world);
  const reading = useRead(`/worlds/${encodeURIComponent(id)}`, ["own"]);
  return html`<h2>World ${id}</h2><${Shown} reading=${reading}>${(shown) => html`<${First} keys=${shown.credentials.sandbox} />`}<//>`;
}

function First({ keys }) {
  const line = `curl -sS -X POST ${keys.base_url}/auth/token -H 'Content-Type: application/json' -d '${JSON.stringify({ public_key: keys.public_key, secret_key: keys.secret_key })}'`;
  return html`<h3>Begin here</h3>
    <${Facts} rows=${[
      ["Base URL", html`<${Id} id=${keys.base_url} to=${null} />`],
      ["Public key", html`<${Id} id=${keys.public_key} to=${null} />`],
    ]} />
    <p>A first call gets a token:</p><div class="json"><${Copy} text=${line} what="the first call" /><pre tabindex="0">${line}</pre></div>`;
}
