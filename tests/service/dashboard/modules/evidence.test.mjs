// The verdicts of observed files, as the dashboard groups them.
import assert from "node:assert/strict";
import { test } from "node:test";

const { evidenceOf } = await import("../../../../simulator/dashboard/page/js/evidence.js");
const row = (id, more) => ({ id, in_force: null, standing: "assumed", observed_at: null, verdict: null, seen: null, ...more });

test("verdicts are grouped by what they decide", () => {
  const observed = { standing: "observed", observed_at: "2026-11-23" };
  const rows = [
    row("H1", { ...observed, verdict: "holds" }),
    row("H14", { ...observed, verdict: "differs", in_force: "lapses_after_1h" }),
    row("M7", { verdict: "neither", seen: "status: 418" }),
    row("H9", { verdict: "differs", in_force: null }),
    row("W3"),
  ];
  assert.deepEqual(evidenceOf(rows), {
    decided: [{ id: "H1", how: "as assumed", when: "2026-11-23" }, { id: "H14", how: "lapses after 1h", when: "2026-11-23" }],
    neither: [{ id: "M7", seen: "status: 418" }],
    overruled: ["H9"],
    open: ["W3"],
  });
});
