// Addresses on the page: `#/requests/req_1?status=503` has the panel `requests`, the rest ["req_1"] and a query.
// Links are ordinary <a href=${href("requests", id)}>, so they can be copied and opened in a tab, and Back works.

const PANELS = { req: "requests", evt: "events", dlv: "deliveries", flt: "faults" };
/** Alternative panel names in addresses, and the panels that they open. */
const OTHER_NAMES = { overview: "", trigger: "actions" };

/** The address of the page for an id of a request, event, delivery, fault or resource. */
export const placeOf = (id) => href(PANELS[id.slice(0, 3)] || "resources", id);

/** Parse a hash into {panel, rest, query}. A hash that is not a path is a resource id, as in old links. */
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
