// Findings about the integrator's traffic: what was seen, why it matters, what to do, and the calls that show it.
import { Empty, Facts, Filters, Shown, Split, Status, Table, Time } from "../ui.js";
import { Thing } from "../things.js";
import { filter } from "../navigation.js";
import { href } from "../routes.js";
import { html } from "../lib.js";
import { useRead } from "../live.js";
import { withQuery } from "../api.js";
import { words } from "../format.js";

const TONES = { error: "bad", warning: "waiting", info: "plain" };

export function View({ rest: [id], query }) {
  const reading = useRead(withQuery("/advice", { severity: query.severity, limit: 200 }), ["request", "delivery", "event"]);
  const chosen = reading.value?.data.find((row) => row.id === id);
  const list = html`<h2>Advice</h2>
    <${Filters} values=${query} change=${filter} fields=${[{ name: "severity", label: "Severity", choices: Object.keys(TONES) }]} />
    <${Shown} reading=${reading}>${({ data }) => html`<${Table} label="Findings" rows=${data} id=${(row) => row.id} selected=${id} open=${(row) => href("advice", row.id, query)} columns=${COLUMNS(query)}
      empty=${html`<${Empty} title="Nothing to say."><p>As your application calls, what would hurt it in production shows here: calls without an Idempotency-Key, webhooks that are not verified, events that are not answered.</p><//>`} />`}<//>`;
  return html`<${Split} list=${list} back=${href("advice", [], query)} detail=${id && (chosen ? html`<${Finding} one=${chosen} />` : html`<${Empty} title="This finding is gone." />`)} />`;
}

const COLUMNS = (query) => [
  { title: "Severity", cell: (row) => html`<${Status} value=${row.severity} tone=${TONES[row.severity]} />` },
  { title: "Finding", className: "grow", cell: (row) => html`<a href=${href("advice", row.id, query)}>${row.message}</a>` },
  { title: "Seen", cell: (row) => `${row.count}×` },
];

const KNOWN = ["id", "kind", "severity", "subject", "message", "what_to_do", "clause", "count", "requests", "evidence", "first_at", "last_at", "world"];

function Finding({ one }) {
  const more = Object.entries(one).filter(([name, value]) => !KNOWN.includes(name) && typeof value === "string");
  return html`<h3>${words(one.kind)} <${Status} value=${one.severity} tone=${TONES[one.severity]} /></h3>
    <p>${one.message}</p>
    ${more.map(([name, value]) => html`<h4>${words(name)}</h4><p class="letter">${value}</p>`)}
    <h4>What to do</h4><p>${one.what_to_do}</p>
    <${Facts} rows=${[["About", html`<code>${one.subject}</code>`], ["Where it is written", one.clause], ["Seen", `${one.count}×`], ["First", one.first_at && html`<${Time} at=${one.first_at} far />`], ["Last", one.last_at && html`<${Time} at=${one.last_at} far />`]]} />
    ${one.requests.length ? html`<h4>Requests that show it</h4><ul class="related">${one.requests.map((id) => html`<li key=${id}><${Thing} id=${id} /></li>`)}</ul>` : ""}
    ${one.evidence.length ? html`<h4>What else shows it</h4><ul class="related">${one.evidence.map((id) => html`<li key=${id}><${Thing} id=${id} /></li>`)}</ul>` : ""}`;
}
