// Navigation on the page. The address contains the filters of a panel.
import { href, parse } from "./routes.js";
import { store } from "./lib.js";

/** The current location: {panel, rest, query}. */
export const route = store(parse(location.hash));
addEventListener("hashchange", () => route.set(parse(location.hash)));

/** Go to a panel. `replace`: without a history entry, for example while the user types into a filter. */
export function go(panel, rest = [], query = {}, { replace = false } = {}) {
  const hash = href(panel, rest, query);
  if (hash === location.hash) return;
  if (!replace) {
    location.hash = hash;
    return;
  }
  history.replaceState(null, "", hash);
  route.set(parse(hash));
}

/** Set a filter of the current panel. */
export function filter(name, value) {
  const { panel, rest, query } = route.get();
  go(panel, rest, { ...query, [name]: value }, { replace: true });
}
