// All events with payloads and deliveries, and sending them again.
import { Act, Empty, Facts, Filters, Id, Json, More, NoMatch, Shown, Split, Status, Table, Time } from "../ui.js";
import { About } from "../things.js";
import { askForFault } from "./deliveries.js";
import { count } from "../format.js";
import { filter } from "../navigation.js";
import { href } from "../routes.js";
import { html, useState } from "../lib.js";
import { post, withQuery } from "../api.js";
import { useContract } from "../contract.js";
import { useRead } from "../live.js";

export function View({ rest: [id], query }) {
  const [limit, setLimit] = useState(100), contract = useContract();
  const { type, object_id, environment } = query;
  const reading = useRead(withQuery("/events", { type, object_id, environment, limit }), ["event"]);
  const list = html`
    <h2>Events</h2>
    <${Filters} values=${query} change=${filter} fields=${[
      { name: "type", label: "Type", choices: Object.keys(contract?.events || {}) },
      { name: "object_id", label: "Object", placeholder: "full id" },
      { name: "environment", label: "Environment", choices: ["sandbox", "production"] },
    ]} />
    <${Shown} reading=${reading}>${({ data }) => html`
      <${Table} label="Events" rows=${data.toReversed()} id=${(row) => row.id} selected=${id} open=${(row) => href("events", row.id, query)} columns=${COLUMNS(query)}
        empty=${type || object_id || environment
          ? html`<${NoMatch} noun="events" panel="events" />`
          : html`<${Empty} title="No events yet."><p>Events appear here when an object changes, with or without a subscriber. <a href=${href("actions")}>Cause an event</a> to see one.</p><//>`} />
      <${More} shown=${data.length} limit=${limit} more=${() => setLimit(limit * 3)} noun="events" />`}<//>`;
  return html`<${Split} list=${list} back=${href("events", [], query)} detail=${id && html`<${Detail} key=${id} id=${id} />`} />`;
}

const COLUMNS = (query) => [
  { title: "Type", className: "grow", cell: (row) => html`<a href=${href("events", row.id, query)}>${row.type}</a>` },
  { title: "About", cell: (row) => html`<${About} event=${row} />` },
  { title: "At", cell: (row) => html`<${Time} at=${row.created_at} />` },
];

function Detail({ id }) {
  const reading = useRead(`/events/${encodeURIComponent(id)}`);
  const deliveries = useRead(withQuery("/deliveries", { event_id: id, limit: 50 }), ["delivery"]);
  const again = async () => `Sent again: ${count((await post(`/events/${encodeURIComponent(id)}/resend?wait=true`)).deliveries, "delivery attempt")}.`;
  return html`<${Shown} reading=${reading}>${(event) => html`
    <h3>${event.type}</h3>
    <${Facts} rows=${[
      ["Id", html`<${Id} id=${event.id} to=${null} />`],
      ["About", event.data?.object?.id && html`<${Id} id=${event.data.object.id} />`],
      ["At", html`<${Time} at=${event.created_at} far />`],
    ]} />
    <div class="buttons"><${Act} does=${again} title="Send to every enabled endpoint that subscribes to it">Send again<//>
      <button type="button" onClick=${() => askForFault({ event_id: event.id, event_type: event.type })}>Send with a fault</button></div>
    <h4>Deliveries</h4>
    <${Shown} reading=${deliveries}>${({ data }) => data.length
      ? html`<ul class="related">${data.map((row) => html`<li key=${row.id}><${Status} value=${row.status} /> <a href=${href("deliveries", row.id)}>attempt ${row.attempt}</a> <span class="muted">${row.url}</span></li>`)}</ul>`
      : html`<p class="muted">None: no endpoint was subscribed when the event occurred.</p>`}<//>
    <h4>Payload</h4><${Json} value=${event} name="Event" />`}<//>`;
}
