// The object of an event as a link, and file downloads.
import { Id } from "./ui.js";
import { href } from "./routes.js";
import { html } from "./lib.js";

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
    return null; // a fault may have changed or truncated the body
  }
}

/** Download a string as a file. */
export function download(name, text, type = "text/plain") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
