// Going somewhere on the page, and its filters in the address.
import { href, parse } from "./routes.js";
import { store } from "./lib.js";

/** Where the page is: {panel, rest, query}. */
export const route = store(parse(location.hash));
addEventListener("hashchange", () => route.set(parse(location.hash)));

/** Go to a panel; `replace`: without a step to go back to, as for what is typed into a filter. */
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

/** Set a filter of the panel that is shown. */
export function filter(name, value) {
  const { panel, rest, query } = route.get();
  go(panel, rest, { ...query, [name]: value }, { replace: true });
}
