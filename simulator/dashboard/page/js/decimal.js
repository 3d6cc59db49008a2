// Exact sums of decimal strings, so that a chart shows the ledger's balances. This module does not use the DOM, so Node can test it.

const PLACES = 18;

/** Convert a decimal string to a BigInt in units of 10^-18. */
export function units(text) {
  const [, sign, whole, part = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) || [];
  if (whole === undefined || part.length > PLACES) throw new RangeError(`${text} is not an amount.`);
  const found = BigInt(whole + part.padEnd(PLACES, "0"));
  return sign ? -found : found;
}

/** Convert such a BigInt back to a decimal string without trailing zeros. */
export function text(value) {
  const digits = String(value < 0n ? -value : value).padStart(PLACES + 1, "0");
  const part = digits.slice(-PLACES).replace(/0+$/, "");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -PLACES)}${part ? `.${part}` : ""}`;
}

/**
 * The balance of an account over time, computed backwards from the current balance: [{at, amount, entry}], oldest first. The first
 * point is the balance before the oldest entry, with `entry` null, so the result is correct even if older entries are omitted.
 */
export function balanceOver(present, entries, account, currency) {
  let held = units(present);
  const points = [];
  for (const entry of entries.toReversed()) {
    const moved = entry.postings.filter((one) => one.account === account && one.currency === currency).reduce((sum, one) => sum + units(one.amount), 0n);
    if (moved === 0n) continue;
    points.push({ at: entry.at, amount: text(held), entry });
    held -= moved;
  }
  return [{ at: null, amount: text(held), entry: null }, ...points.reverse()];
}
