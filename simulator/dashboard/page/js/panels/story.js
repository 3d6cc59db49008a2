// The page of a resource: reason for its status, history, related objects, and possible actions.
import { Facts, Id, Json, Shown, Status, Time, ask, closeDialog, doing, toast, useKeptFocus } from "../ui.js";
import { SchemaForm } from "../forms.js";
import { changedAll, useRead } from "../live.js";
import { count, money, words } from "../format.js";
import { draw } from "../diagram.js";
import { href } from "../routes.js";
import { html, useEffect, useState } from "../lib.js";
import { post } from "../api.js";

const SHOWN_AT_ONCE = 30;

export function Story({ id }) {
  const reading = useRead(`/resources/${encodeURIComponent(id)}`, ["state", "event", "delivery", "clock"]);
  const actions = useRead("/actions"), tables = useRead("/states");
  useKeptFocus();
  return html`<${Shown} reading=${reading}>${(about) => html`
    <h3><bdi>${about.resource.reference || about.resource.name || words(about.kind)}</bdi> <${Status} value=${about.state} /></h3>
    ${about.why ? html`<p class="why">${about.why}</p>` : ""}
    <${Facts} rows=${[
      ["Id", html`<${Id} id=${about.resource.id || id} to=${null} />`],
      ["Kind", words(about.kind)],
      ["Order", about.resource.order_id && html`<${Id} id=${about.resource.order_id} to=${null} />`],
      ["Amount", amounts(about.resource)],
      ["Since", about.history.length && html`<${Time} at=${about.history.at(-1).at} far />`],
      ["Environment", about.environment === "production" && "production"],
      ["Scenario", about.origin.scenario && html`<${Scenario} name=${about.origin.scenario} />`],
    ]} />
    <h4>Possible actions</h4>
    <${Actions} about=${about} catalogue=${actions.value?.data || []} />
    <${Planned} timers=${about.timers} />
    <h4>History</h4>
    <${Diagram} table=${tables.value?.data.find((table) => table.kind === about.kind)} history=${about.history} />
    <ol class="history">${about.history.map((step) => html`<li><${Time} at=${step.at} /> <${Status} value=${step.state} /> <span class="cause"><${Cause} cause=${step.cause} /></span></li>`)}</ol>
    <${Related} about=${about} />
    <${Ledger} entries=${about.ledger_entries} />
    <h4>API representation</h4><${Json} value=${about.resource} name="Resource" />
    ${about.origin.body ? html`<details><summary>Request that created it</summary><${Json} value=${about.origin.body} name="Body of the request that created this object" /></details>` : ""}`}<//>`;
}

function amounts(of) {
  if (!of.source_amount) return of.amount ? `${money(of.amount)} ${of.currency || of.asset || of.symbol || ""}` : null;
  const [from, to] = of.type === "onramp" ? [of.fiat_currency, of.asset] : [of.source_currency || of.asset, of.destination_currency || of.fiat_currency];
  return `${money(of.source_amount)} ${from || ""}${of.destination_amount ? ` → ${money(of.destination_amount)} ${to || ""}` : ""}`;
}

const Scenario = ({ name }) => html`<a href=${href("scenarios", name)}>${name}</a>`;

/** The cause of a change, with a link. */
export function Cause({ cause }) {
  if (!cause) return null;
  if (cause.request) return html`the call <a href=${href("requests", cause.request.id)}>${cause.request.method} <code>${cause.request.path}</code></a>`;
  if (cause.kind === "rule") {
    return html`a rule of the scenario <${Scenario} name=${cause.name} />${cause.condition ? `, where ${cause.condition}` : ""} <code class="muted">${cause.reference}</code>`;
  }
  if (cause.control) return html`action <b>${words(cause.name)}</b>`;
  return cause.text;
}

function Planned({ timers }) {
  if (!timers.length) return null;
  return html`<h4>Planned next</h4><ul class="history">${timers.slice(0, SHOWN_AT_ONCE).map((timer) => html`<li>${timer.due_at ? html`<${Time} at=${timer.due_at} far />` : html`<span>waits for ${timer.waiting_for.join(", ")}</span>`}
    <span class="cause">${timer.action ? html`<b>${words(timer.action)}</b>, from the scenario <${Scenario} name=${timer.scenario} /> <code class="muted">${timer.file}${timer.line ? `:${timer.line}` : ""}</code>` : timer.text}</span></li>`)}</ul>
    ${timers.length > SHOWN_AT_ONCE ? html`<p class="muted">${timers.length - SHOWN_AT_ONCE} more are planned.</p>` : ""}`;
}

/** Whether the screen is too narrow for ranks side by side. Updated when the screen is resized or rotated. */
function useNarrow() {
  const [narrow, setNarrow] = useState(NARROW.matches);
  useEffect(() => {
    const look = () => setNarrow(NARROW.matches);
    NARROW.addEventListener("change", look);
    return () => NARROW.removeEventListener("change", look);
  }, []);
  return narrow;
}
const NARROW = matchMedia("(max-width: 43.75rem)"); // 700 px

/** The state diagram: current status, past and possible transitions. The history has the same as text. */
export function Diagram({ table, history }) {
  if (!table || table.states.length < 2) return null;
  const went = history.map((step) => step.state), drawing = draw(table, went, useNarrow());
  const means = new Map(table.states.map((state) => [state.state, state.means]));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="State diagram"><svg class="diagram" viewBox=${`0 0 ${drawing.width} ${drawing.height}`} width=${drawing.width} height=${drawing.height} role="img"
      aria-label=${`State diagram of the ${table.name}: ${went.map(words).join(", then ")}.`}>
    <defs>${["gone", "next", "other"].map((sort) => html`<marker id=${`arrow-${sort}`} class=${`arrow ${sort}`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" /></marker>`)}</defs>
    ${drawing.edges.map((edge) => html`<path key=${`${edge.from} ${edge.to}`} class=${`edge ${edge.sort}`} d=${edge.path} marker-end=${`url(#arrow-${edge.sort})`}><title>${words(edge.from)} → ${words(edge.to)}: ${edge.label}</title></path>`)}
    ${drawing.nodes.map((node) => html`<g key=${node.state} class=${`node ${node.sort}`}><rect x=${node.x} y=${node.y} width=${drawing.size.width} height=${drawing.size.height} rx="6" />
      <text x=${node.x + drawing.size.width / 2} y=${node.y + drawing.size.height / 2} dominant-baseline="central" text-anchor="middle">${words(node.state)}</text><title>${means.get(node.state) || words(node.state)}</title></g>`)}
  </svg></div>`;
}

function Related({ about }) {
  const { related, events, deliveries } = about;
  const objects = related.filter((other) => other.kind !== "order").slice(0, SHOWN_AT_ONCE);
  return html`
    ${objects.length ? html`<h4>Related objects</h4><ul class="related">${objects.map((other) => html`<li><span class="muted">${words(other.relation)}</span> <${Id} id=${other.id} copy=${false} /> <${Status} value=${other.state} /></li>`)}</ul>` : ""}
    ${events.length ? html`<h4>Events and deliveries</h4><ul class="related">${events.slice(-SHOWN_AT_ONCE).map((event) => html`<li><${Time} at=${event.at} /> <a href=${href("events", event.id)}>${event.type}</a>
      ${deliveries.filter((delivery) => delivery.event_id === event.id).map((delivery) => html`<a href=${href("deliveries", delivery.id)} title=${delivery.url}><${Status} value=${delivery.status} /></a>`)}</li>`)}</ul>
      ${deliveries.length ? "" : html`<p class="muted">No endpoint subscribed to them, so none was delivered.</p>`}` : ""}`;
}

function Ledger({ entries }) {
  if (!entries.length) return null;
  return html`<details><summary>Ledger: ${count(entries.length, "entry").replace("entrys", "entries")}</summary><div class="scroll"><table class="table"><thead><tr><th scope="col">At</th><th scope="col">For</th><th scope="col">Account</th><th scope="col" class="number">Amount</th></tr></thead>
    <tbody>${entries.flatMap((entry) => entry.postings.map((posting, index) => html`<tr key=${`${entry.number} ${index}`}><td data-title="At">${index ? "" : html`<${Time} at=${entry.at} />`}</td><td data-title="For">${index ? "" : words(entry.purpose)}</td>
      <td data-title="Account"><code>${posting.account}</code></td><td data-title="Amount" class="number">${money(posting.amount)} ${posting.currency}</td></tr>`))}</tbody></table></div></details>`;
}

function Actions({ about, catalogue }) {
  const possible = about.allowed.map((name) => catalogue.find((action) => action.name === name)).filter(Boolean);
  if (!possible.length) return html`<p class="muted">No action is possible now${about.refused.length ? ": it is final, or only the service can change it" : ""}.</p>`;
  return html`<div class="buttons" role="group" aria-label="Actions">${possible.map((action) => html`<${ActionButton} key=${action.name} action=${action} target=${about.resource.id} kind=${about.kind} />`)}</div>`;
}

/** The parameters of an action on a kind of resource. */
export function schemaOf(action, kind) {
  const variants = action.parameters.anyOf;
  if (!variants) return action.parameters;
  return variants.length === action.targets.length ? variants[action.targets.indexOf(kind)] : variants[0];
}

/** A button that performs an action, with a dialog for parameters. Without a target it applies to the world, in `environment`. */
export function ActionButton({ action, target, kind, environment, done }) {
  const schema = schemaOf(action, kind);
  const perform = async (parameters) => {
    const answer = await post(`/actions/${action.name}`, target ? { target, ...parameters } : parameters, { environment });
    done?.(answer);
    return `${words(action.name)}: done, ${count(answer.events.length, "event")}.`;
  };
  const send = async (parameters) => {
    toast(await perform(parameters));
    closeDialog();
    changedAll();
  };
  const click = () => Object.keys(schema.properties || {}).length
    ? ask({ title: words(action.name), about: action.does, body: () => html`<${SchemaForm} schema=${schema} send=${send} cancel=${closeDialog} />` })
    : doing(() => perform({}));
  return html`<button type="button" title=${action.does} onClick=${click}>${words(action.name)}</button>`;
}
