// The clock at the top of the page: the time of the world, and buttons to advance it.
import { Act } from "./ui.js";
import { clock, progress } from "./live.js";
import { count, distance, fullTime, nowOf } from "./format.js";
import { html, useEffect, useState, useStore } from "./lib.js";
import { get, post } from "./api.js";
import { href } from "./routes.js";

const NAMED = 3, READ = 50;

/** Advance the clock and return a summary: timers, events (a few by name) and deliveries. */
export async function advance(how) {
  const done = await post("/clock/advance?wait=true", how);
  if (done.from === done.now && how.to_next_timer && !done.fired) return "No timer is scheduled, so the clock was not advanced.";
  const fired = [count(done.fired, "timer"), "fired"].join(" ");
  const sent = done.deliveries ? `, ${count(done.deliveries, "delivery attempt")}` : "";
  return `Now ${fullTime(done.now)}: ${fired}${await eventsInWords(done.events)}${sent}.`;
}

/** The types of the newest events, and the number of other events. */
async function eventsInWords(ids) {
  if (!ids.length) return ", no event";
  const rows = (await get(`/events?limit=${READ}`)).data.filter((event) => ids.includes(event.id)).slice(-NAMED);
  const named = rows.map((event) => `${event.type}${event.data?.object?.reference ? ` (${event.data.object.reference})` : ""}`).join(", ");
  return ids.length > rows.length ? `, ${count(ids.length, "event")}, most recently ${named}` : `, ${named}`;
}

/** The current simulated time, updated every second while the clock runs; null until it is known. */
export function useNow() {
  const state = useStore(clock), [, tick] = useState(0);
  const runs = state && state.mode !== "manual";
  useEffect(() => {
    if (!runs) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, [runs]);
  return state && new Date(nowOf(state, Date.now())).toISOString();
}

export function ClockBar() {
  const state = useStore(clock), moving = useStore(progress), now = useNow();
  if (!state) return html`<div class="clock muted">loading the clock</div>`;
  return html`<div class="clock" role="group" aria-label="Clock">
    <output class="now" title=${`The clock is ${state.mode}.`}>${fullTime(now)}</output> <span class="muted"><a href=${href("clock")} title="Clock mode and timers">${state.mode}</a>${moving ? ", moving" : state.next_timer_at ? `, next timer ${distance(state.next_timer_at, now)}` : ""}</span>
    <${Act} does=${() => advance({ to_next_timer: true })} title="Advance to the next timer (.)">Next timer<//>
    ${["1m", "30m", "1h", "1d"].map((by) => html`<${Act} key=${by} does=${() => advance({ by })} label=${`Advance by ${by}`}>+${by}<//>`)}</div>`;
}
