// Actions on the world, and causing events.
import { Filters, Id, Json, Shown, Time } from "../ui.js";
import { ActionButton } from "./story.js";
import { SchemaForm } from "../forms.js";
import { changedAll, useRead } from "../live.js";
import { count, words } from "../format.js";
import { html, useState } from "../lib.js";
import { filter } from "../navigation.js";
import { post } from "../api.js";
import { href } from "../routes.js";
import { useContract, withMembers } from "../contract.js";

export function View({ query }) {
  const environment = query.environment || "sandbox", [answer, setAnswer] = useState(null);
  const reading = useRead("/actions");
  return html`<${Filters} values=${{ environment }} change=${filter} fields=${[{ name: "environment", label: "Environment", choices: ["sandbox", "production"] }]} />
    <${CauseEvent} environment=${environment} event=${query.event} />
    <section class="card"><h2>Actions on the world</h2>
    <p class="muted">These actions do not need a resource. Actions on one resource are on <a href=${href("resources")}>its page</a>.</p>
    <${Shown} reading=${reading}>${({ data }) => html`<ul class="choices">${data.filter((one) => !one.targets.length).map((action) => html`<li key=${action.name}><${ActionButton} action=${action} environment=${environment} done=${setAnswer} /> <span class="muted">${action.does}</span></li>`)}</ul>`}<//>
    ${answer ? html`<h3>${words(answer.action)}: result</h3>${answer.events.length ? html`<p>${count(answer.events.length, "event")}: ${answer.events.map((one) => html`<a href=${href("events", one.id)}>${one.type}</a> `)}</p>` : ""}<${Json} value=${answer.resource} name="Result" />` : ""}</section>`;
}

/** Cause an event, and show the calls and actions that led to it. */
function CauseEvent({ environment, event }) {
  const contract = useContract(), [done, setDone] = useState(null);
  const send = async (body) => {
    setDone(null);
    setDone(await post("/trigger?wait=true", body, { environment }));
    changedAll();
  };
  return html`<section class="card"><h2>Cause an event</h2>
    <p class="muted">Choose an event. The simulator makes the calls and actions that lead to it, so the event is about a real object.</p>
    ${contract ? html`<${SchemaForm} schema=${withMembers(contract.schema("TriggerBody"), { event: contract.events })} first=${event ? { event } : {}} resolve=${contract.resolve} send=${send} ok="Cause the event" />` : ""}
    ${done ? html`<div role="status"><h3>${done.event.type} occurred for <${Id} id=${done.target} copy=${false} /></h3>
      <ol class="steps">${done.steps.map((step, index) => html`<li key=${index}><${Time} at=${step.at} /> ${step.did}</li>`)}</ol>
      <p>${done.advanced_to ? html`The clock advanced to <${Time} at=${done.advanced_to} />. ` : "The clock was not advanced. "}${count(done.events.length, "event")} occurred: ${done.events.map((one) => html`<a key=${one.id} href=${href("events", one.id)}>${one.type}</a> `)}</p></div>` : ""}</section>`;
}
