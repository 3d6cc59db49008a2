// Advice about the integrator's traffic: evidence, reason, fix.
import { Empty, Facts, Filters, Id, Json, NoMatch, Shown, Split, Status, Table, Time } from "../ui.js";
import { BASE, withQuery, world } from "../api.js";
import { filter } from "../navigation.js";
import { href, placeOf } from "../routes.js";
import { html } from "../lib.js";
import { useRead } from "../live.js";
import { words } from "../format.js";

const EVERY = "all worlds";
const TONES = { error: "bad", warning: "warning", info: "plain" };
const RANKS = Object.keys(TONES);

// Most severe first, then newest first.
const bySeverity = (found) => found.toReversed().sort((one, other) => RANKS.indexOf(one.severity) - RANKS.indexOf(other.severity));

export function View({ rest: [id], query }) {
  const reading = useRead(withQuery("/advice", { severity: query.severity, world: query.of === EVERY ? "*" : "", limit: 200 }), ["request", "delivery", "event"]);
  const chosen = reading.value?.data.find((row) => row.id === id);
  const list = html`<h2>Advice</h2>
    <${Filters} values=${query} change=${filter} fields=${[{ name: "severity", label: "Severity", choices: Object.keys(TONES) }, { name: "of", label: "World", choices: [EVERY] }]} />
    <${Shown} reading=${reading}>${({ data }) => html`<${Table} label="Findings" rows=${bySeverity(data)} id=${(row) => row.id} selected=${id} open=${(row) => href("advice", row.id, query)} columns=${COLUMNS(query)}
      empty=${query.severity || query.of ? html`<${NoMatch} noun="findings" panel="advice" />` : html`<${Empty} title="No findings."><p>As your application makes calls, problems that would occur in production appear here: calls without an Idempotency-Key, unverified webhooks, events without a 2xx response.</p><//>`} />`}<//>`;
  return html`<${Split} list=${list} back=${href("advice", [], query)} detail=${id && (chosen ? html`<${Finding} one=${chosen} />` : html`<${Empty} title="This finding no longer exists."><p><a href=${href("advice")}>See the other findings</a></p><//>`)} />`;
}

const COLUMNS = (query) => [
  { title: "Severity", cell: (row) => html`<${Status} value=${row.severity} tone=${TONES[row.severity]} />` },
  { title: "Finding", className: "grow", cell: (row) => html`<a href=${href("advice", row.id, query)}>${row.message}</a>` },
  ...(query.of === EVERY ? [{ title: "World", cell: (row) => row.world }] : []),
  { title: "Seen", cell: (row) => `${row.count}×` },
];

function Finding({ one }) {
  return html`<h3>${words(one.kind)} <${Status} value=${one.severity} tone=${TONES[one.severity]} /></h3>
    <p>${one.message}</p>
    ${one.why ? html`<h4>Why it matters in production</h4><p>${one.why}</p>` : ""}
    <h4>What to do</h4><p>${one.what_to_do}</p>
    ${one.changes.map((change) => html`<details key=${change.language} open=${change === one.changes[0]}><summary>Code to change (${change.language})</summary><h5>Probably now</h5><${Json} value=${change.before} name="Current code" links=${false} /><h5>Suggested</h5><${Json} value=${change.after} name="Suggested code" links=${false} /></details>`)}
    <${Facts} rows=${[["About", html`<code>${one.subject}</code>`], ["Source", html`${one.clause} ${one.clause_links.map((link) => html`<a key=${link} href=${BASE + link.replace(/^\/_simulator/, "")}>${link.split("#")[1] || "open"}</a> `)}`], ["Rests on", one.rests_on?.map((row) => `${row.id}, ${row.standing}${row.observed_at ? ` on ${row.observed_at}` : ""}`).join("; ")], ["Seen", `${one.count}×`], ["World", one.world], ["First", one.first_at && html`<${Time} at=${one.first_at} far />`], ["Last", one.last_at && html`<${Time} at=${one.last_at} far />`]]} />
    <${Shows} title="Requests with this problem" ids=${one.requests} of=${one.world} /><${Shows} title="Other evidence" ids=${one.evidence} of=${one.world} />`;
}

/** The evidence of a finding, as links. In another world, a link opens that world. */
function Shows({ title, ids, of }) {
  if (!ids.length) return null;
  const isHere = !of || of === world.get();
  return html`<h4>${title}</h4><ul class="related">${ids.map((id) => html`<li key=${id}>${isHere ? html`<${Id} id=${id} copy=${false} />` : html`<a href=${`?world=${encodeURIComponent(of)}${placeOf(id)}`}><code>${id}</code></a>`}</li>`)}</ul>`;
}
