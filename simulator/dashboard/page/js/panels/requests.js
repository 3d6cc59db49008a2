// The journal of interface calls: what the partner's application asked for and got, and how to do it again.
import { Copy, Empty, Facts, Filters, Id, Json, More, Shown, Split, Status, Table, Time } from "../ui.js";
import { html, useState } from "../lib.js";
import { withQuery } from "../api.js";
import { href } from "../routes.js";
import { filter } from "../navigation.js";
import { useRead } from "../live.js";
import { curl } from "../curl.js";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const STATUSES = [200, 201, 202, 204, 400, 401, 403, 404, 405, 409, 422, 429, 500, 502, 503, 504];

export function View({ rest: [id], query }) {
  const [limit, setLimit] = useState(100);
  const { method, path, status } = query;
  const reading = useRead(withQuery("/requests", { method, path: path ? `*${path}*` : "", status, limit }), ["request"]);
  const list = html`
    <h2>Requests</h2>
    <${Filters} values=${query} change=${filter} fields=${[
      { name: "method", label: "Method", choices: METHODS },
      { name: "path", label: "Path", placeholder: "/quotes" },
      { name: "status", label: "Status", choices: STATUSES },
    ]} />
    <${Shown} reading=${reading}>${({ data, dropped }) => html`
      <${Table} label="Requests" rows=${data.toReversed()} id=${(row) => row.id} selected=${id} open=${(row) => href("requests", row.id, query)} columns=${COLUMNS(query)}
        empty=${html`<${Empty} title="No such request."><p>Calls of the interface show here as they come. The overview has a first one to copy.</p><//>`} />
      <${More} shown=${data.length} limit=${limit} more=${() => setLimit(limit * 3)} noun="requests" />
      ${dropped ? html`<p class="muted">${dropped} older ones were dropped to bound the memory.</p>` : ""}`}<//>`;
  return html`<${Split} list=${list} back=${href("requests", [], query)} detail=${id && html`<${Detail} id=${id} rows=${reading.value?.data || []} />`} />`;
}

const COLUMNS = (query) => [
  { title: "Status", cell: (row) => html`<${Status} value=${row.status} />` },
  { title: "Call", className: "grow", cell: (row) => html`<a href=${href("requests", row.id, query)}><b>${row.method}</b> <code>${row.path}</code></a>` },
  { title: "At", cell: (row) => html`<${Time} at=${row.at} />` },
];

function Detail({ id, rows }) {
  const row = rows.find((one) => one.id === id);
  if (!row) return html`<${Empty} title="This request is not among those listed."><p>Choose one of the list, or show more of them.</p><//>`;
  return html`<h3><${Status} value=${row.status} /> ${row.method} <code>${row.path}${row.query ? `?${row.query}` : ""}</code></h3>
    <${Facts} rows=${[
      ["Id", html`<${Id} id=${row.id} to=${null} />`],
      ["At", html`<${Time} at=${row.at} far />`],
      ["Environment", row.environment],
      ["Operation", row.operation && html`<code>${row.operation}</code>`],
      ["Key", row.public_key && html`<code>${row.public_key}</code>`],
      ["Unknown fields", row.unknown_fields.join(", ")],
    ]} />
    <div class="buttons"><${Copy} text=${() => curl(row, location.origin)} what="the call as curl">Copy as curl<//></div>
    <h4>Body</h4>${row.body === null ? html`<p class="muted">It had no body.</p>` : html`<${Json} value=${row.body} name="The body" />`}
    <h4>Answer</h4>${row.response === null ? html`<p class="muted">The answer had no body.</p>` : html`<${Json} value=${row.response} name="The answer" />`}
    <details><summary>Headers</summary><${Json} value=${row.headers} name="The headers" links=${false} /></details>`;
}
