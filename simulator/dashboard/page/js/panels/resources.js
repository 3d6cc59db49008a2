// Lists of all resources. The page of one resource is in story.js.
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
  const type = query.type || "transaction";
  const reading = useRead(withQuery("/resources", { type: type === ALL ? "" : type, limit }), ["state"]);
  const wanted = (query.text || "").toLowerCase();
  const fits = (row) => `${row.id} ${named(row) || ""} ${account(row) || ""} ${row.status || ""} ${row.kind} ${row.type || ""}`.toLowerCase().includes(wanted);
  const list = html`
    <h2>Resources</h2>
    <${Types} chosen=${type} kinds=${kinds} query=${query} />
    <${Filters} values=${query} change=${filter} fields=${[
      { name: "text", label: "Filter", placeholder: "reference, name, id or status" },
    ]} />
    <${Shown} reading=${reading}>${({ data }) => html`
      <${Table} label="Resources" rows=${data.toReversed().filter(fits)} id=${(row) => row.id} selected=${id} open=${(row) => href("resources", row.id, query)} columns=${COLUMNS(query)}
        empty=${data.length
          ? html`<${Empty} title="No resources match."><p><a href=${href("resources", [], { ...query, text: "" })}>Clear the filter</a>, or use the search at the top. It covers all resources, including amounts and phone numbers.</p><//>`
          : html`<${Empty} title=${`${TYPES[type] && type !== ALL ? TYPES[type] : "Resources"}: there are none yet.`}><p>They appear here when a call creates one. The <a href=${href("")}>overview</a> has a first call to copy.${type === ALL ? "" : html` Other kinds are under <a href=${href("resources", [], { ...query, type: ALL })}>All</a>.`}</p><//>`} />
      <${More} shown=${data.length} limit=${limit} more=${() => setLimit(limit * 3)} noun="resources" />`}<//>`;
  return html`<${Split} list=${list} back=${href("resources", [], query)} detail=${id && html`<${Story} key=${id} id=${id} />`} />`;
}

const ALL = "all";
/** The most important kinds, by name. The first one is shown by default. */
const TYPES = { transaction: "Transactions", quote: "Quotes", beneficiary: "Beneficiaries", wallet: "Wallets", webhook: "Webhooks", [ALL]: "All" };

function Types({ chosen, kinds, query }) {
  const others = kinds.filter((kind) => !TYPES[kind]);
  return html`<div class="tabs" role="group" aria-label="Kind">${Object.entries(TYPES).map(([type, title]) => html`<a key=${type} href=${href("resources", [], { ...query, type })} aria-current=${type === chosen ? "true" : null}>${title}</a>`)}
    <select aria-label="Another kind" value=${TYPES[chosen] ? "" : chosen} onChange=${(event) => filter("type", event.target.value)}><option value="">another kind</option>${others.map((kind) => html`<option key=${kind} value=${kind}>${words(kind)}</option>`)}</select></div>`;
}

const COLUMNS = (query) => [
  { title: "Reference", className: "grow", cell: (row) => html`<a href=${href("resources", row.id, query)}>${named(row) ? html`<bdi>${named(row)}</bdi>` : html`<code>${row.id}</code>`}</a>${account(row) ? html` <bdi class="muted">${account(row)}</bdi>` : ""}` },
  { title: "Kind", cell: (row) => words(row.kind) },
  { title: "Amount", className: "number extra", cell: (row) => html`<${Amount} of=${row} />` },
  { title: "Status", cell: (row) => html`<${Status} value=${row.status} />` },
  { title: "Updated", className: "extra", cell: (row) => html`<${Time} at=${row.updated_at || row.created_at} />` },
];

const named = (row) => row.reference || row.name || row.label;

/** The payout details of a beneficiary. They are shown because several beneficiaries can have the same name. */
const account = ({ details }) => details?.phone_number || details?.account_number || details?.wallet_address;

/** The amount of a resource: the source amount, or its only amount. */
export function Amount({ of }) {
  const amount = of.source_amount ?? of.amount;
  const currency = of.source_currency ?? of.currency ?? (of.type === "onramp" ? of.fiat_currency : of.asset) ?? of.symbol ?? of.fiat_currency;
  return typeof amount === "string" ? html`<${Money} amount=${amount} currency=${typeof currency === "string" ? currency : ""} />` : null;
}
