// Everything that the page imports from libraries.
import { Component, Fragment, createContext, h, render } from "../vendor/preact.js";
import { useCallback, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact-hooks.js";
import htm from "../vendor/htm.js";

/** Templates: html`<p class="x">${text}</p>`. A value in ${} is a string, an element or a list of them, never markup. */
export const html = htm.bind(h);
export { Component, Fragment, createContext, h, render, useCallback, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState };

/** A value that components subscribe to: `set` updates all of them. */
export function store(value) {
  const followers = new Set();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const follow of [...followers]) follow();
    },
    follow(follow) {
      followers.add(follow);
      return () => followers.delete(follow);
    },
  };
}

/** The value of a store, in a component. */
export function useStore(one) {
  const [value, set] = useState(one.get());
  useEffect(() => {
    set(() => one.get());
    return one.follow(() => set(() => one.get()));
  }, [one]);
  return value;
}
