// Rates over simulated time. They are constant until an action changes them, so every step of the chart has a cause.
import { Filters, Shown, Table, Time } from "../ui.js";
import { html, useStore } from "../lib.js";
import { ActionButton } from "./story.js";
import { Chart } from "../chart.js";
import { clock, useRead } from "../live.js";
import { filter } from "../navigation.js";
import { withQuery } from "../api.js";

export function View({ query }) {
  const environment = query.environment || "sandbox", now = useStore(clock)?.now;
  const rates = useRead("/rates", ["own", "clock"], environment), actions = useRead("/actions").value?.data || [];
  const pairs = rates.value?.mid || [];
  const assets = [...new Set(pairs.map((row) => row.asset))], fiats = [...new Set(pairs.map((row) => row.fiat_currency))];
  const asset = query.asset || "USDC", fiat_currency = query.fiat_currency || "KES";
  const history = useRead(withQuery("/rates/history", { asset, fiat_currency }), ["own", "clock"], environment);
  return html`<section class="card"><h2>Rates</h2>
    <${Filters} values=${{ environment, asset, fiat_currency }} change=${filter} fields=${[{ name: "environment", label: "Environment", choices: ["sandbox", "production"] }, { name: "asset", label: "Asset", choices: assets }, { name: "fiat_currency", label: "Fiat currency", choices: fiats }]} />
    <div class="buttons" role="group" aria-label="Change rates">${["set_rate", "move_rates"].map((name) => actions.find((one) => one.name === name)).filter(Boolean).map((action) => html`<${ActionButton} key=${action.name} action=${action} environment=${environment} />`)}</div>
    <${Shown} reading=${history}>${({ data: [way] }) => html`
      <h3>${asset} in ${fiat_currency}</h3>
      <${Chart} label=${`Rates of ${asset} in ${fiat_currency} over simulated time; the table below has the same data`} until=${now}
        series=${["onramp", "mid", "offramp"].map((name) => ({ name, points: way.points.map((point) => ({ at: point.at, value: point[name] })) }))} />
      <${Table} label="Rate changes" rows=${way.points.map((point, index) => ({ ...point, index })).reverse()} id=${(row) => row.index} columns=${COLUMNS} />`}<//>
    <${Shown} reading=${rates}>${(value) => html`<details><summary>All pairs now</summary><${Table} label="All pairs" rows=${value.mid} id=${(row) => `${row.asset} ${row.fiat_currency}`} columns=${ALL(value)} /></details>
      <details><summary>Swaps now</summary><${Table} label="Swaps" rows=${value.swap} id=${(row) => `${row.from.symbol} ${row.from.network} ${row.to.symbol} ${row.to.network}`} columns=${SWAPS} /></details>`}<//></section>`;
}

const COLUMNS = [
  { title: "Since", cell: (row) => html`<${Time} at=${row.at} far />` },
  ...["onramp", "mid", "offramp"].map((name) => ({ title: name, className: "number", cell: (row) => row[name] })),
  { title: "Cause", className: "grow", cell: (row) => row.cause?.text || "initial rate" },
];

const ALL = (value) => [
  { title: "Pair", className: "grow", cell: (row) => `${row.asset} in ${row.fiat_currency}` },
  ...["onramp", "mid", "offramp"].map((name) => ({ title: name, className: "number", cell: (row) => value[name].find((one) => one.asset === row.asset && one.fiat_currency === row.fiat_currency)?.rate })),
  { title: "Since", cell: (row) => html`<${Time} at=${row.updated_at} />` },
];

const SWAPS = [
  { title: "From", cell: (row) => `${row.from.symbol} (${row.from.network})` },
  { title: "To", className: "grow", cell: (row) => `${row.to.symbol} (${row.to.network})` },
  { title: "Rate", className: "number", cell: (row) => row.rate },
];
