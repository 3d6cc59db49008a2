// A tour of five steps for the first visit. It can be skipped, and started again from the overview.
import { html, store, useEffect, useStore } from "./lib.js";

const REMEMBERED = "rampsim-tour";
const STEPS = [
  ["#search", "Find anything", "Type a reference, an id, an amount or a phone number. Press / on any page to search."],
  [".clock", "You control time", "Advance simulated time, or let it run. Press the period key (.) to advance to the next timer; a message shows what happened."],
  [".rail a[href='#/resources']", "Every object has a history", "Open an object to see its status, the cause of each change, planned timers, and buttons for actions of third parties."],
  [".rail a[href='#/requests']", "Every request is saved", "See a request's body, response and changes, copy it as curl, or send it again. Events and deliveries have their own pages."],
  [".world", "Worlds are isolated", "Each world has its own clock, keys and resources. Each test creates its own world."],
];

const step = store(-1);
/** Whether the tour was taken or refused in this browser. */
export const wasOffered = () => {
  try { return Boolean(localStorage.getItem(REMEMBERED)); } catch { return true; }
};
export const offered = store(wasOffered());

export function endTour() {
  try { localStorage.setItem(REMEMBERED, "done"); } catch { /* then it is offered again */ }
  offered.set(true);
  step.set(-1);
}
export const beginTour = () => step.set(0);

/** The offer of the tour on the overview at the first visit. */
export function TourOffer() {
  const known = useStore(offered), at = useStore(step);
  if (known || at >= 0) return null;
  return html`<aside class="offer" aria-label="A tour"><p><strong>New here?</strong> A five-step tour takes half a minute.</p>
    <div class="buttons"><button type="button" class="main" onClick=${beginTour}>Show me</button><button type="button" onClick=${endTour}>No, thank you</button></div></aside>`;
}

export function Tour() {
  const at = useStore(step);
  useEffect(() => {
    const target = at < 0 ? null : document.querySelector(STEPS[at][0]);
    target?.classList.add("pointed-at");
    target?.scrollIntoView({ block: "nearest" });
    return () => target?.classList.remove("pointed-at");
  }, [at]);
  if (at < 0) return null;
  const [, title, text] = STEPS[at], isLast = at === STEPS.length - 1;
  return html`<section class="tour" role="dialog" aria-labelledby="tour-title" aria-describedby="tour-text">
    <p class="muted">${at + 1} of ${STEPS.length}</p><h2 id="tour-title">${title}</h2><p id="tour-text">${text}</p>
    <div class="buttons"><button type="button" class="main" onClick=${() => (isLast ? endTour() : step.set(at + 1))}>${isLast ? "Done" : "Next"}</button>
      ${at ? html`<button type="button" onClick=${() => step.set(at - 1)}>Back</button>` : ""}${isLast ? "" : html`<button type="button" onClick=${endTour}>Skip</button>`}</div></section>`;
}
