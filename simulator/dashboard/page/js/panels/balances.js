// Balances over simulated time, with their ledger entries.
import { Empty, Filters, Id, Money, Shown, Table, Time } from "../ui.js";
import { html, useState, useStore } from "../lib.js";
import { Chart } from "../chart.js";
import { balanceOver } from "../decimal.js";
import { clock, useRead } from "../live.js";
import { filter } from "../navigation.js";
import { href } from "../routes.js";
import { money, words } from "../format.js";
import { withQuery } from "../api.js";

const POTS = ["available", "held"];

export function View({ query }) {
  const [limit, setLimit] = useState(500), environment = query.environment || "sandbox";
  const reading = useRead(withQuery("/ledger", { entries: limit }), ["state", "event", "own"], environment);
  return html`<section class="card"><h2>Balances</h2>
    <${Filters} values=${{ environment }} change=${filter} fields=${[{ name: "environment", label: "Environment", choices: ["sandbox", "production"] }]} />
    <${Shown} reading=${reading}>${(books) => html`<${Books} books=${books} query=${query} environment=${environment} whole=${books.entries.length < limit} more=${() => setLimit(limit * 4)} />`}<//></section>`;
}

function Books({ books, query, whole, more }) {
  const now = useStore(clock)?.now;
  const own = books.accounts.filter((row) => POTS.includes(row.account));
  const currencies = [...new Set(own.map((row) => row.currency))];
  const moved = books.entries.flatMap((entry) => entry.postings.filter((one) => POTS.includes(one.account)).map((one) => one.currency));
  const chosen = currencies.includes(query.currency) ? query.currency : moved.at(-1) || currencies[0];
  if (!currencies.length) return html`<${Empty} title="The account has no balances."><p>Set one under <a href=${href("actions")}>Actions</a>, or create a transaction.</p><//>`;
  const heldBy = (account, currency) => books.accounts.find((row) => row.account === account && row.currency === currency)?.amount || "0";
  const lines = POTS.map((account) => ({ name: account, points: balanceOver(heldBy(account, chosen), books.entries, account, chosen) }));
  const entries = books.entries.filter((entry) => entry.postings.some((one) => one.currency === chosen)).toReversed();
  const first = books.entries[0]?.at;
  const series = lines.map((line) => ({ name: line.name, points: line.points.map((point) => ({ at: point.at || first, value: point.amount })).filter((point) => point.at) }));
  const at = query.entry;
  const pick = (ms) => {
    const near = entries.toSorted((one, other) => Math.abs(Date.parse(one.at) - ms) - Math.abs(Date.parse(other.at) - ms))[0];
    if (near) filter("entry", String(near.number));
  };
  const after = Object.fromEntries(lines.map((line) => [line.name, new Map(line.points.filter((point) => point.entry).map((point) => [point.entry.number, point.amount]))]));
  return html`
    <${Table} label="Balances" rows=${currencies} id=${(currency) => currency} selected=${chosen} open=${(currency) => href("balances", [], { ...query, currency, entry: "" })} columns=${[
      { title: "Currency", className: "grow", cell: (currency) => html`<a href=${href("balances", [], { ...query, currency, entry: "" })}>${currency}</a>` },
      ...POTS.map((account) => ({ title: words(account), className: "number", cell: (currency) => html`<${Money} amount=${heldBy(account, currency)} />` })),
    ]} />
    <h3>${chosen} over time</h3>
    <${Chart} label=${`Available and held ${chosen} over simulated time; the table of entries below has the same data`} series=${series} until=${now} pick=${pick} />
    <h3>Entries of ${chosen}</h3>
    <${Table} label="Ledger entries" rows=${entries} id=${(entry) => String(entry.number)} selected=${at} open=${(entry) => href("balances", [], { ...query, currency: chosen, entry: String(entry.number) })} columns=${[
      { title: "Entry", cell: (entry) => html`<a href=${href("balances", [], { ...query, currency: chosen, entry: String(entry.number) })}>${entry.number}</a>` },
      { title: "At", cell: (entry) => html`<${Time} at=${entry.at} />` },
      { title: "For", className: "grow", cell: (entry) => html`${words(entry.purpose)} ${entry.resource_id ? html`<${Id} id=${entry.resource_id} copy=${false} />` : ""}` },
      { title: "Moved", cell: (entry) => html`<ul class="postings">${entry.postings.filter((one) => one.currency === chosen).map((one) => html`<li>${words(one.account)} <b>${one.amount.startsWith("-") ? "" : "+"}${money(one.amount)}</b></li>`)}</ul>` },
      { title: "Available after", className: "number", cell: (entry) => after.available.has(entry.number) && money(after.available.get(entry.number)) },
    ]} />
    ${whole ? "" : html`<p class="more muted">Older entries are hidden. The amounts include them. <button type="button" onClick=${more}>Show more</button></p>`}
    <details><summary>All ledger accounts</summary>
      <${Table} label="Ledger accounts" rows=${books.accounts} id=${(row) => `${row.account} ${row.currency}`} columns=${[
        { title: "Account", className: "grow", cell: (row) => words(row.account) },
        { title: "Balance", className: "number", cell: (row) => html`<${Money} amount=${row.amount} currency=${row.currency} />` },
      ]} /><p class="muted">The balances of all accounts in a currency sum to zero. The account <code>world</code> represents everything outside the service.</p></details>`;
}
