// The start page: keys, first steps in a new world, and recent activity.
import { Copy, Facts, Id, Shown, Status, Table, Time } from "../ui.js";
import { Amount } from "./resources.js";
import { TourOffer, beginTour } from "../tour.js";
import { href } from "../routes.js";
import { html, useStore } from "../lib.js";
import { quoted } from "../curl.js";
import { showKeys } from "../keyboard.js";
import { useRead } from "../live.js";
import { words } from "../format.js";
import { openPage, world } from "../api.js";

const LATELY = 8;

export function View() {
  const id = useStore(world);
  const reading = useRead(`/worlds/${encodeURIComponent(id)}`, ["own"]);
  const calls = useRead(`/requests?limit=${LATELY}`, ["request"]), resources = useRead(`/resources?type=transaction&limit=${LATELY}`, ["state"]);
  return html`<h2>World ${id}</h2><${TourOffer} />
    <${Shown} reading=${reading}>${(shown) => html`<${Begin} keys=${shown.credentials.sandbox} isFresh=${calls.value?.data.length === 0} />`}<//>
    ${calls.value?.data.length ? html`<h3><a href=${href("requests")}>Latest requests</a></h3><${Table} label="Latest requests" rows=${calls.value.data.toReversed()} id=${(row) => row.id} open=${(row) => href("requests", row.id)} columns=${CALLS} />` : ""}
    ${resources.value?.data.length ? html`<h3><a href=${href("resources")}>Latest transactions</a></h3><${Table} label="Latest transactions" rows=${resources.value.data.toReversed()} id=${(row) => row.id} open=${(row) => href("resources", row.id)} columns=${RESOURCES} />` : ""}
    <h3>More</h3>
    <ul class="related"><li><a onClick=${openPage} href=${`reference.html?world=${encodeURIComponent(id)}`}>API reference</a></li><li><a onClick=${openPage} href=${`coverage.html?world=${encodeURIComponent(id)}`}>Coverage of your traffic</a></li>
      <li><button type="button" onClick=${beginTour}>Tour</button> <button type="button" onClick=${showKeys}>Keyboard shortcuts</button></li></ul>`;
}

const CALLS = [
  { title: "Status", cell: (row) => html`<${Status} value=${row.status} />` },
  { title: "Call", className: "grow", cell: (row) => html`<a href=${href("requests", row.id)}><b>${row.method}</b> <code>${row.path}</code></a>` },
  { title: "At", cell: (row) => html`<${Time} at=${row.at} />` },
];
const RESOURCES = [
  { title: "Status", cell: (row) => html`<${Status} value=${row.status} />` },
  { title: "Reference", className: "grow", cell: (row) => html`<a href=${href("resources", row.id)}>${row.reference || row.name || html`<code>${row.id}</code>`}</a>` },
  { title: "Kind", cell: (row) => words(row.kind) },
  { title: "Amount", className: "number", cell: (row) => html`<${Amount} of=${row} />` },
];

function Begin({ keys, isFresh }) {
  const asked = JSON.stringify({ public_key: keys.public_key, secret_key: keys.secret_key });
  const token = `TOKEN=$(curl -sS -X POST ${quoted(`${keys.base_url}/auth/token`)} -H 'Content-Type: application/json' -d ${quoted(asked)} | sed -E 's/.*"access_token":"([^"]+)".*/\\1/')`;
  const call = `curl -sS ${quoted(`${keys.base_url}/profile`)} -H "Authorization: Bearer $TOKEN"`;
  const inside = html`
    <${Facts} rows=${[
      ["Base URL", html`<${Id} id=${keys.base_url} to=${null} />`],
      ["Public key", html`<${Id} id=${keys.public_key} to=${null} />`],
      ["Secret key", html`<${Secret} value=${keys.secret_key} name="secret key" />`],
      ["Webhook key", html`<${Secret} value=${keys.webhook_key} name="webhook key" />`],
    ]} />
    <p>Configure your application with this base URL and these keys. They work only in this simulation. Or make a first call on the command line:</p>
    <div class="json"><${Copy} text=${`${token}\n${call}`} what="command" /><pre tabindex="0" role="region" aria-label="The first call">${shielded(token, keys.secret_key)}${"\n"}${call}</pre></div>
    <p class="muted">The call then appears under <a href=${href("requests")}>Requests</a>. Add webhooks with <code>POST /webhooks</code>, or use a built-in <a href=${href("inbox")}>inbox</a>.</p>`;
  return isFresh ? html`<h3>Start here</h3>${inside}` : html`<details><summary>Keys, base URL and a first call</summary>${inside}</details>`;
}

const isWellKnown = (key) => key.endsWith("_simulator");
const shortened = (key) => (isWellKnown(key) ? key : `${key.slice(0, 9)}…`);
const shielded = (text, key) => text.replaceAll(key, shortened(key));

/** A shortened key, so that screens and screenshots do not show it in full. The copy button copies all of it. */
const Secret = ({ value, name }) => html`<span class="id"><code>${shortened(value)}</code><${Copy} text=${value} what=${name} /></span>`;
