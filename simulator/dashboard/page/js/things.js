// Addresses of objects by the prefix of their ids, and file downloads.
import { Id } from "./ui.js";
import { href } from "./routes.js";
import { html } from "./lib.js";

const PANELS = { req: "requests", evt: "events", dlv: "deliveries", flt: "faults" };

/** The address of what an id names: a request, an event, a delivery, a fault, else a resource. */
export const placeOf = (id) => href(PANELS[id.slice(0, 3)] || "resources", id);

/** An id that leads to what it names. */
export const Thing = ({ id }) => html`<${Id} id=${id} to=${placeOf(id)} copy=${false} />`;

/** The object of an event, as a link with its reference or id. A body that is not an event has none. */
export function About({ event }) {
  const object = typeof event === "string" ? parsed(event)?.data?.object : event?.data?.object;
  if (typeof object?.id !== "string") return null;
  const { reference } = object;
  return typeof reference === "string" && reference ? html`<a href=${href("resources", object.id)} title=${object.id}><bdi>${reference}</bdi></a>` : html`<${Id} id=${object.id} copy=${false} />`;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null; // a fault may have altered it, or cut it off
  }
}

/** Hand a text to the browser as a file to keep. */
export function download(name, text, type = "text/plain") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
