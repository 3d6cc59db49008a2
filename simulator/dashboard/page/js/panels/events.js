// Every event that was emitted, what it says, and sending it again.
import { Act, Empty, Filters, Id, Json, More, Shown, Split, Table, Time } from "../ui.js";
import { count } from "../format.js";
import { filter } from "../navigation.js";
import { href } from "../routes.js";
import { html, useState } from "../lib.js";
import { post, withQuery } from "../api.js";
import { useRead } from "../live.js";

export function View({ rest: [id], query }) {
  const [limit, setLimit] = useState(100);
  const reading = useRead(withQuery("/events", { type: query.type, object_id: query.object_id, limit }), ["event"]);
  const list = html`
    <h2>Events</h2>
    <${Filters} values=${query} change=${filter} fields=${[{ name: "type", label: "Type", placeholder: "transaction.completed" }, { name: "object_id", label: "Object", placeholder: "an id" }]} />
    <${Shown} reading=${reading}>${({ data }) => html`
      <${Table} label="Events" rows=${data.toReversed()} id=${(row) => row.id} selected=${id} open=${(row) => href("events", row.id, query)} columns=${COLUMNS(query)}
        empty=${html`<${Empty} title="No such event."><p>Events show here as they are emitted, whether anybody subscribed to them or not.</p><//>`} />
      <${More} shown=${data.length} limit=${limit} more=${() => setLimit(limit * 3)} noun="events" />`}<//>`;
  return html`<${Split} list=${list} back=${href("events", [], query)} detail=${id && html`<${Detail} key=${id} id=${id} />`} />`;
}

const COLUMNS = (query) => [
  { title: "Type", className: "grow", cell: (row) => html`<a href=${href("events", row.id, query)}>${row.type}</a>` },
  { title: "About", cell: (row) => html`<${Id} id=${row.data?.object?.id} copy=${false} />` },
  { title: "At", cell: (row) => html`<${Time} at=${row.created_at} />` },
];

function Detail({ id }) {
  const reading = useRead(`/events/${encodeURIComponent(id)}`);
  const again = async () => `Sent again: ${count((await post(`/events/${encodeURIComponent(id)}/resend?wait=true`)).deliveries, "delivery attempt")}.`;
  return html`<${Shown} reading=${reading}>${(event) => html`
    <h3>${event.type}</h3>
    <div class="buttons"><${Act} does=${again}>Send again<//></div>
    <h4>Payload</h4><${Json} value=${event} name="The event" />`}<//>`;
}
