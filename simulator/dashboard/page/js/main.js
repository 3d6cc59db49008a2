// The page around the panels: world, clock, navigation, and the request for the control token.
import { Act, Dialogs, Empty, Toasts } from "./ui.js";
import { chooseWorld, get, giveToken, needsToken, post, wasAsked, world } from "./api.js";
import { connection, changedAll, follow, useRead } from "./live.js";
import { html, render, useEffect, useState, useStore } from "./lib.js";
import { PANELS } from "./panels.js";
import { href } from "./routes.js";
import { route } from "./navigation.js";
import { ClockBar } from "./clockbar.js";
import { Rail } from "./rail.js";
import { SchemeChoice } from "./scheme.js";
import { SearchBox } from "./searchbox.js";
import { Tour } from "./tour.js";
import { listenToKeys, showKeys } from "./keyboard.js";

const MOST_WORLDS = 6;

if (window.top !== window) throw new Error("The dashboard cannot be embedded in another page.");

function Page() {
  const { panel, rest, query } = useStore(route);
  const present = PANELS.find((one) => one.id === panel);
  const worldId = useStore(world);
  useEffect(() => { document.title = `${present?.title || "Not found"} · ${worldId} · Simulator`; }, [present, worldId]);
  return html`
    <a class="skip" href="#content" onClick=${(event) => { event.preventDefault(); document.getElementById("content").focus(); }}>Skip to content</a>
    <header class="bar"><h1><a href=${href("")}>Simulator</a></h1><${WorldChoice} /><${SearchBox} /><${ClockBar} key=${worldId} /><${Connection} /><${SchemeChoice} /><button type="button" class="icon for-keys" aria-label="Keys" title="Keys (?)" onClick=${showKeys}>?</button></header>
    <${Rail} panels=${PANELS} present=${present} />
    <main id="content" tabindex="-1">${useStore(connection) === "absent" ? html`<${Absent} key=${worldId} id=${worldId} />` : present
      ? html`<${present.View} key=${`${worldId} ${panel}`} rest=${rest} query=${query} />`
      : html`<${Empty} title="Page not found."><p><a href=${href("")}>Go to the overview</a></p><//>`}</main>
    <${Dialogs} /><${Toasts} /><${Tour} /><${TokenQuestion} />`;
}

/** The page for a world that does not exist, with links to other worlds. A new world is noticed at the next request. */
function Absent({ id }) {
  const others = useRead("/worlds", ["own"]).value?.data || [];
  const make = async () => {
    await post("/worlds", { id });
    follow();
    return `The world ${id} was created.`;
  };
  return html`<${Empty} title=${`The world ${id} does not exist.`}><p>It may have been deleted, or this server has no store and was restarted.</p>
    <div class="buttons">${others.slice(0, MOST_WORLDS).map((one) => html`<button key=${one.id} type="button" class=${one.id === "default" ? "main" : ""} onClick=${() => chooseWorld(one.id)}>Show ${one.id}</button>`)}
      <${Act} does=${make}>Create an empty world<//><button type="button" onClick=${() => { follow(); changedAll(); }}>Try again</button></div>
    ${others.length > MOST_WORLDS ? html`<p class="muted">${others.length - MOST_WORLDS} more are in the list at the top.</p>` : ""}<//>`;
}

function WorldChoice() {
  const chosen = useStore(world), worlds = useRead("/worlds", ["own"]).value?.data;
  const ids = (worlds || []).map((one) => one.id);
  useEffect(() => {
    if (!wasAsked && ids.length && !ids.includes(chosen)) chooseWorld(ids[0]); // a token limited to some worlds may not include `default`
  }, [worlds]);
  return html`<label class="world">World <select value=${chosen} onChange=${(event) => chooseWorld(event.target.value)}>
    ${ids.includes(chosen) ? "" : html`<option value=${chosen}>${chosen}${worlds ? " (does not exist)" : ""}</option>`}${ids.map((id) => html`<option value=${id}>${id}</option>`)}</select></label>`;
}

function Connection() {
  const state = useStore(connection);
  const said = { connecting: "connecting", live: "live", lost: "disconnected, retrying", absent: "no such world" }[state];
  return html`<span class="connection" role="status" data-state=${state}>${said}</span> <button type="button" class="icon" aria-label="Refresh" title="Reload all data" onClick=${changedAll}><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M13 8a5 5 0 1 1-1.5-3.6 M13 2v3h-3" /></svg></button>`;
}

function TokenQuestion() {
  const asked = useStore(needsToken), [text, setText] = useState(""), [wrong, setWrong] = useState("");
  const submit = async (event) => {
    event.preventDefault();
    giveToken(text);
    try {
      await get("/worlds?limit=1");
      follow();
      changedAll();
    } catch (error) {
      setWrong(error.message);
    }
  };
  if (!asked) return null;
  return html`<div class="cover"><form class="dialog" role="dialog" aria-modal="true" aria-labelledby="token-title" onSubmit=${submit}>
    <h2 id="token-title">Control token</h2><p>This server requires a control token (<code>--control-token</code>).</p>
    <input type="password" autocomplete="off" required aria-label="Control token" value=${text} onInput=${(event) => setText(event.target.value)} autofocus />
    ${wrong ? html`<p role="alert">${wrong}</p>` : ""}<div class="buttons"><button class="main">Go on</button></div></form></div>`;
}

listenToKeys(PANELS);
world.follow(follow);
follow();
const root = document.getElementById("page");
root.replaceChildren();
render(html`<${Page} />`, root);
