// The journal of API calls: request, response, changes, curl command and replay.
import { Copy, Empty, Facts, Failure, Filters, Id, Json, More, NoMatch, Shown, Split, Status, Table, Time, ask, closeDialog } from "../ui.js";
import { changedAll, useRead } from "../live.js";
import { html, useState } from "../lib.js";
import { keyOf, replay, whyNot } from "../replay.js";
import { curl } from "../curl.js";
import { filter } from "../navigation.js";
import { href, placeOf } from "../routes.js";
import { withQuery } from "../api.js";
import { took, words } from "../format.js";

const STATUSES = [200, 201, 202, 204, 400, 401, 403, 404, 405, 409, 422, 429, 500, 502, 503, 504];

export function View({ rest: [id], query }) {
  const [limit, setLimit] = useState(100);
  const { status, operation, text, since, until } = query;
  const operations = useRead("/coverage").value?.dimensions.operations.items.map((row) => row.item).sort() || [];
  const reading = useRead(withQuery("/requests", { status, operation, text, since: since && `${since}Z`, until: until && lastOf(until), limit }), ["request"]);
  const list = html`
    <h2>Requests</h2>
    <${Filters} values=${query} change=${filter} fields=${[
      { name: "status", label: "Status", choices: STATUSES },
      { name: "operation", label: "Operation", choices: operations },
      { name: "text", label: "Order or text", placeholder: "reference, id, path or body" },
      { name: "since", label: "From (UTC)", type: "datetime-local" },
      { name: "until", label: "To (UTC)", type: "datetime-local" },
    ]} />
    <${Shown} reading=${reading}>${({ data, dropped }) => html`
      <${Table} label="Requests" rows=${data.toReversed()} id=${(row) => row.id} selected=${id} open=${(row) => href("requests", row.id, query)} columns=${COLUMNS(query)}
        empty=${status || operation || text || since || until
          ? html`<${NoMatch} noun="requests" panel="requests" />`
          : html`<${Empty} title="No requests yet."><p>API calls appear here. The <a href=${href("")}>overview</a> has a first call to copy.</p><//>`} />
      <${More} shown=${data.length} limit=${limit} more=${() => setLimit(limit * 3)} noun="requests" />
      ${dropped ? html`<p class="muted">${dropped} older requests were deleted to save memory.</p>` : ""}`}<//>`;
  return html`<${Split} list=${list} back=${href("requests", [], query)} detail=${id && html`<${Detail} key=${id} id=${id} />`} />`;
}

/** The last millisecond of a minute or second: the input omits the seconds if they are 0. */
const lastOf = (time) => `${time}${time.length < 19 ? ":00" : ""}.999Z`;

const COLUMNS = (query) => [
  { title: "Status", cell: (row) => html`<${Status} value=${row.status} />` },
  { title: "Call", className: "grow", cell: (row) => html`<a href=${href("requests", row.id, query)}><b>${row.method}</b> <code>${row.path}</code></a>${row.advice.length ? html` <span class="mark">advice</span>` : ""}${row.fault_id ? html` <a class="mark" href=${href("faults", row.fault_id)}>fault</a>` : ""}${keyOf(row) ? html`<div class="muted to">Idempotency key <code>${keyOf(row)}</code></div>` : ""}` },
  { title: "Result", className: "extra", cell: (row) => html`<${Result} row=${row} />` },
  { title: "Took", className: "number extra", cell: (row) => took(row.duration_ms) },
  { title: "At", cell: (row) => html`<${Time} at=${row.at} />` },
];

/** The object that a call returned, with its status, or the error code. Lists and tokens have neither. */
function Result({ row: { method, response } }) {
  const code = response?.error?.code;
  if (code) return html`<code>${code}</code>`;
  if (method === "GET" || typeof response?.id !== "string") return null;
  return html`<a href=${placeOf(response.id)} title=${response.id}><bdi>${response.reference || response.name || response.id}</bdi></a> <${Status} value=${response.status} />`;
}

function Detail({ id }) {
  const reading = useRead(`/requests/${encodeURIComponent(id)}`), advice = useRead("/advice", ["request"]);
  return html`<${Shown} reading=${reading}>${({ request: row, answer_headers, calls, moves, events }) => html`
    <h3><${Status} value=${row.status} /> ${row.method} <code>${row.path}${row.query ? `?${row.query}` : ""}</code></h3>
    <${Facts} rows=${[
      ["Id", html`<${Id} id=${row.id} to=${null} />`],
      ["At", html`<${Time} at=${row.at} far />`],
      ["Took", took(row.duration_ms)],
      ["Operation", row.operation && html`<code>${row.operation}</code>`],
      ["Environment", row.environment === "production" && "production"],
      ["Key pair", row.public_key && html`<code>${row.public_key}</code>`],
      ["Idempotency key", keyOf(row) && html`<code>${keyOf(row)}</code>`],
      ["Replays", calls > 1 && `${calls - 1}. Each returned the stored response and changed nothing.`],
      ["Fault", row.fault_id && html`<a href=${href("faults", row.fault_id)}><code>${row.fault_id}</code></a>`],
      ["Unknown fields", row.unknown_fields.join(", ")],
    ]} />
    <div class="buttons">
      <${Copy} text=${() => curl(row, location.origin)} what="curl command">Copy as curl<//>
      ${whyNot(row) ? "" : html`<button type="button" onClick=${() => ask({ title: "Send this request again", body: () => html`<${Replay} row=${row} />` })}>Replay</button>`}
    </div>
    <${Findings} id=${row.id} findings=${advice.value?.data || []} />
    <${Changes} moves=${moves} events=${events} status=${row.status} />
    <h4>Body</h4>${row.body === null ? html`<p class="muted">No body.</p>` : html`<${Json} value=${row.body} name="Body" />`}
    <h4>Response</h4>${row.response === null ? html`<p class="muted">No body.</p>` : html`<${Json} value=${row.response} name="Response" />`}
    <details><summary>Headers</summary><h4>Request</h4><${Json} value=${row.headers} name="Request headers" links=${false} />
      <h4>Response</h4><${Json} value=${answer_headers} name="Response headers" links=${false} /></details>`}<//>`;
}

function Findings({ id, findings }) {
  const found = findings.filter((finding) => finding.requests.includes(id));
  return found.length ? html`<h4>Advice</h4><ul class="related">${found.map((finding) => html`<li><${Status} value=${finding.severity} tone=${finding.severity === "error" ? "bad" : "warning"} /> <span>${finding.message} ${finding.what_to_do}</span></li>`)}</ul>` : null;
}

function Changes({ moves, events, status }) {
  if (!moves.length && !events.length) return html`<p class="muted">${status >= 400 ? "The call was refused and changed nothing." : "The call changed nothing."}</p>`;
  return html`<h4>Changes</h4><ul class="related">${moves.map((move) => html`<li>${move.is_new ? "created" : "changed"} the ${words(move.kind)} <${Id} id=${move.id} copy=${false} /> <${Status} value=${move.state} /></li>`)}
    ${events.map((event) => html`<li>emitted <a href=${href("events", event.id)}>${event.type}</a></li>`)}</ul>`;
}

function Replay({ row }) {
  const key = keyOf(row), reads = row.method === "GET";
  const [fresh, setFresh] = useState(key ? "same" : "none"), [busy, setBusy] = useState(false), [answer, setAnswer] = useState(null), [error, setError] = useState(null);
  const send = async (event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      setAnswer(await replay(row, { same: key, none: null, other: `${(key || "dashboard").slice(0, 200)}-${crypto.randomUUID().slice(0, 8)}` }[fresh]));
    } catch (refusal) {
      setError(refusal);
    }
    setBusy(false);
    changedAll();
  };
  const choices = [key && ["same", "With the same key: the stored response is returned, and nothing is done again"], ["other", "With a new key: the work is done again"], !key && ["none", "Without a key, like the original: the work is done again"]].filter(Boolean);
  return html`<form class="form" onSubmit=${send}>
    <p><b>${row.method}</b> <code>${row.path}</code> is called with the same body and a new token of this world.</p>
    ${reads ? "" : html`<fieldset><legend>Idempotency key</legend>${choices.map(([value, text]) => html`<label class="choice"><input type="radio" name="key" value=${value} checked=${fresh === value} onChange=${() => setFresh(value)} /> ${text}</label>`)}</fieldset>`}
    ${error ? html`<${Failure} error=${error} />` : ""}
    ${answer ? html`<p role="status"><${Status} value=${answer.status} /></p><${Json} value=${answer.value} name="Response" />` : ""}
    <div class="buttons"><button class="main" aria-busy=${busy ? "true" : null}>${answer ? "Again" : "Send"}</button><button type="button" onClick=${closeDialog}>Close</button></div></form>`;
}
