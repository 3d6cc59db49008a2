// The verdicts of observed files on the assumptions of a world. This module does not use the DOM.
import { words } from "./format.js";

/** Group assumptions: `decided` (how and when), `neither` (with the observed behaviour), `overruled` (by the world's settings), `open`. */
export function evidenceOf(rows) {
  const decided = rows.filter((row) => row.standing === "observed");
  return {
    decided: decided.map((row) => ({ id: row.id, how: row.in_force ? words(row.in_force) : "as assumed", when: row.observed_at })),
    neither: rows.filter((row) => row.verdict === "neither").map((row) => ({ id: row.id, seen: row.seen || "" })),
    overruled: rows.filter((row) => row.verdict && row.verdict !== "neither" && row.standing !== "observed").map((row) => row.id),
    open: rows.filter((row) => !row.verdict).map((row) => row.id),
  };
}
