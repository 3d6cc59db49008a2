// A logarithmic time axis with the present in the middle, so that seconds and months are both visible. Node can test it.
import { span } from "./format.js";

/** The position of a time in percent from the left. 50 is now. Each side is logarithmic and covers `reachMs`. */
export function place(ms, nowMs, reachMs) {
  const distance = ms - nowMs, share = Math.log1p(Math.abs(distance) / 1000) / Math.log1p(reachMs / 1000);
  return 50 + Math.sign(distance) * 48 * Math.min(1, share);
}

const TICKS_MS = [10_000, 60_000, 600_000, 3_600_000, 86_400_000, 7 * 86_400_000, 30 * 86_400_000, 365 * 86_400_000];

/** The ticks of an axis: [{at, text}]. */
export function ticks(reachMs) {
  const fit = TICKS_MS.filter((one) => one <= reachMs);
  const shown = fit.filter((one, index) => index === fit.length - 1 || place(fit[index + 1], 0, reachMs) - place(one, 0, reachMs) > 4);
  return [...shown.map((one) => ({ at: place(-one, 0, reachMs), text: `−${span(one)}` })), { at: 50, text: "now" }, ...shown.map((one) => ({ at: place(one, 0, reachMs), text: `+${span(one)}` }))];
}

/** Combine rows that are close to each other into one mark: [{at, rows}]. `where(row)`: its time in milliseconds. */
export function marks(rows, where, nowMs, reachMs, nearest = 1.2) {
  const found = [];
  for (const row of rows.toSorted((one, other) => where(one) - where(other))) {
    const at = place(where(row), nowMs, reachMs), last = found.at(-1);
    if (last && at - last.at < nearest) last.rows.push(row);
    else found.push({ at, rows: [row] });
  }
  return found;
}
