// Addresses of the page: `#/requests/req_1?status=503` is the panel `requests`, the rest ["req_1"] and a query.
// A link is an ordinary <a href=${href("requests", id)}>, so that it can be copied, opened in a tab, and used with Back.

const PANELS = { req: "requests", evt: "events", dlv: "deliveries", flt: "faults" };
/** Names of panels that have another address. */
const OTHER_NAMES = { overview: "", trigger: "actions" };

/** The address of the page of an id: a request, event, delivery or fault, or otherwise a resource. */
export const placeOf = (id) => href(PANELS[id.slice(0, 3)] || "resources", id);

/** Return {panel, rest, query} of a hash. A hash that is not a path is a resource id, as in old links. */
export function parse(hash) {
  const text = hash.replace(/^#/, "");
  if (text && !text.startsWith("/")) return { panel: "resources", rest: [decoded(text)], query: {} };
  const [path, search = ""] = cut(text, "?");
  const [panel = "", ...rest] = path.split("/").slice(1).filter(Boolean).map(decoded);
  return { panel: OTHER_NAMES[panel] ?? panel, rest, query: Object.fromEntries(new URLSearchParams(search)) };
}

/** The address of a panel: href("requests", id), href("requests", [], {status: "503"}). */
export function href(panel, rest = [], query = {}) {
  const path = [panel, ...[rest].flat()].map(encodeURIComponent).join("/");
  const asked = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return `#/${path}${asked.length ? `?${new URLSearchParams(asked)}` : ""}`;
}

function cut(text, by) {
  const place = text.indexOf(by);
  return place < 0 ? [text] : [text.slice(0, place), text.slice(place + 1)];
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}
