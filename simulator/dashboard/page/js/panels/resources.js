// Every resource; the story of one is in story.js.
import { Empty, Filters, Money, More, Shown, Split, Status, Table, Time } from "../ui.js";
import { filter } from "../navigation.js";
import { href } from "../routes.js";
import { html, useState } from "../lib.js";
import { Story } from "./story.js";
import { useRead } from "../live.js";
import { withQuery } from "../api.js";
import { words } from "../format.js";

export function View({ rest: [id], query }) {
  const [limit, setLimit] = useState(100);
  const kinds = useRead("/states").value?.data.map((table) => table.kind) || [];
  const reading = useRead(withQuery("/resources", { type: query.type, limit }), ["state"]);
  const wanted = (query.text || "").toLowerCase();
  const fits = (row) => `${row.id} ${row.reference || ""} ${row.status || ""} ${row.kind} ${row.type || ""}`.toLowerCase().includes(wanted);
  const list = html`
    <h2>Resources</h2>
    <${Filters} values=${query} change=${filter} fields=${[
      { name: "type", label: "Kind", choices: kinds },
      { name: "text", label: "Among these", placeholder: "reference, id or status" },
    ]} />
    <${Shown} reading=${reading}>${({ data }) => html`
      <${Table} label="Resources" rows=${data.toReversed().filter(fits)} id=${(row) => row.id} selected=${id} open=${(row) => href("resources", row.id, query)} columns=${COLUMNS(query)}
        empty=${data.length
          ? html`<${Empty} title="None of these fits."><p>The search above looks through all of them, by amount and phone number, too.</p><//>`
          : html`<${Empty} title="There are no resources yet."><p>They show here as soon as a call makes one. The <a href=${href("")}>overview</a> has a first one to copy.</p><//>`} />
      <${More} shown=${data.length} limit=${limit} more=${() => setLimit(limit * 3)} noun="resources" />`}<//>`;
  return html`<${Split} list=${list} back=${href("resources", [], query)} detail=${id && html`<${Story} key=${id} id=${id} />`} />`;
}

const COLUMNS = (query) => [
  { title: "Reference", className: "grow", cell: (row) => html`<a href=${href("resources", row.id, query)}>${row.reference || row.name || row.label || html`<code>${row.id}</code>`}</a>` },
  { title: "Kind", cell: (row) => words(row.kind) },
  { title: "Amount", className: "number extra", cell: (row) => html`<${Amount} of=${row} />` },
  { title: "Status", cell: (row) => html`<${Status} value=${row.status} />` },
  { title: "Updated", className: "extra", cell: (row) => html`<${Time} at=${row.updated_at || row.created_at} />` },
];

/** What a resource is about in money: what goes in, or the one amount that it has. */
export function Amount({ of }) {
  const amount = of.source_amount ?? of.amount;
  const currency = of.source_currency ?? of.currency ?? (of.type === "onramp" ? of.fiat_currency : of.asset) ?? of.symbol ?? of.fiat_currency;
  return typeof amount === "string" ? html`<${Money} amount=${amount} currency=${typeof currency === "string" ? currency : ""} />` : null;
}
