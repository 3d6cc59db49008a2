// Where things are shown, by what their ids begin with; and files for a person to keep.
import { Id } from "./ui.js";
import { href } from "./routes.js";
import { html } from "./lib.js";

const PANELS = { req: "requests", evt: "events", dlv: "deliveries", flt: "faults" };

/** The address of what an id names: a request, an event, a delivery, a fault, else a resource. */
export const placeOf = (id) => href(PANELS[id.slice(0, 3)] || "resources", id);

/** An id that leads to what it names. */
export const Thing = ({ id }) => html`<${Id} id=${id} to=${placeOf(id)} copy=${false} />`;

/** Hand a text to the browser as a file to keep. */
export function download(name, text, type = "text/plain") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
