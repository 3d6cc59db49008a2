// Exact sums of decimal texts, so that a balance on a chart is the balance of the books. No document is needed here: Node tests it.

const PLACES = 18;

/** A decimal text as a whole number of its 18th place. */
export function units(text) {
  const [, sign, whole, part = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) || [];
  if (whole === undefined || part.length > PLACES) throw new RangeError(`${text} is no amount.`);
  const found = BigInt(whole + part.padEnd(PLACES, "0"));
  return sign ? -found : found;
}

/** The text of such a number, without zeros behind. */
export function text(value) {
  const digits = String(value < 0n ? -value : value).padStart(PLACES + 1, "0");
  const part = digits.slice(-PLACES).replace(/0+$/, "");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -PLACES)}${part ? `.${part}` : ""}`;
}

/**
 * What an account held over time, reckoned back from what it holds now: [{at, amount, entry}], oldest first. The first point is what
 * it held before the oldest of the entries (oldest first), so it is right when older ones are left out, too; its `entry` is null.
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
