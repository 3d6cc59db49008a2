// Human-readable formats. This module does not use the DOM, so Node can test it.
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A complete time: "2026-01-05 08:00:45 UTC". */
export const fullTime = (at) => `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;

/** A short time: "08:00:45" on the day of `now`, "4 Jan 08:00" in the same year, otherwise "4 Jan 2025". */
export function shortTime(at, now) {
  if (now && at.slice(0, 10) === now.slice(0, 10)) return at.slice(11, 19);
  const day = `${Number(at.slice(8, 10))} ${MONTHS[Number(at.slice(5, 7)) - 1]}`;
  return now && at.slice(0, 4) !== now.slice(0, 4) ? `${day} ${at.slice(0, 4)}` : `${day} ${at.slice(11, 16)}`;
}

/** The distance between two times: "in 2 h 30 min", "3 d ago", "now". */
export function distance(at, now) {
  const ms = Date.parse(at) - Date.parse(now);
  const words = span(Math.abs(ms));
  return words === "0 s" ? "now" : ms > 0 ? `in ${words}` : `${words} ago`;
}

/** The current simulated time in milliseconds. For a running clock, it is estimated between messages. */
export function nowOf(state, wallMs) {
  const passed = state.mode === "manual" ? 0 : (wallMs - state.readAt) * (state.mode === "scaled" ? Number(state.rate) : 1);
  return Date.parse(state.now) + passed;
}

/** A duration in milliseconds, in its two largest units. */
export function span(ms) {
  if (ms < 1000) return ms < 1 ? "0 s" : `${Math.round(ms)} ms`;
  let left = Math.floor(ms / 1000);
  const parts = [];
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]]) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count) parts.push(`${count} ${unit}`);
  }
  return parts.slice(0, 2).join(" ");
}

/** Format "1234567.50" as "1,234,567.50". Digits after the point are unchanged. */
export function money(amount) {
  const [, sign, whole, rest] = /^(-?)(\d+)(.*)$/.exec(String(amount)) || [];
  return whole === undefined ? String(amount) : `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ",")}${rest}`;
}

/** Format "awaiting_payment" as "awaiting payment". */
export const words = (name) => String(name).replaceAll("_", " ");

/** "1 timer", "2 timers". */
export const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

const TONES = {
  good: "active approved completed confirmed credited delivered enabled operational paid published ready succeeded successful verified",
  bad: "declined down failed payment_failed payout_failed rejected revoked suspended",
  back: "refunded",
  ended: "cancelled closed deleted disabled ended expired inactive off",
  waiting: "action_required awaiting_deposit awaiting_payment degraded detected draft not_started paused pending scheduled",
  moving: "processing running sending",
};
const TONE_OF = new Map(Object.entries(TONES).flatMap(([tone, names]) => names.split(" ").map((name) => [name, tone])));

/** The tone of a status: good, bad, back (money was returned), ended, waiting, warning (a refused call), moving, or plain if unknown. */
export function toneOf(status) {
  if (typeof status === "number") return status >= 500 || status === 0 ? "bad" : status >= 400 ? "warning" : "good";
  return TONE_OF.get(String(status)) || "plain";
}

/** Group rows by a key, in order of first occurrence: [[key, rows], …]. */
export function grouped(rows, by) {
  const found = new Map();
  for (const row of rows) found.set(by(row), [...(found.get(by(row)) || []), row]);
  return [...found];
}

/** A duration of real time: "<1 ms", "147 ms", "2 s". */
export const took = (ms) => (ms < 1 ? "<1 ms" : span(ms));
