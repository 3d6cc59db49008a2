// The drawing of state tables: every state has a place of its own, and the way gone is told apart.
import assert from "node:assert/strict";
import { test } from "node:test";

const { columnsOf, draw } = await import("../../../../simulator/dashboard/page/js/diagram.js");
const table = (pairs) => ({
  states: [...new Set(pairs.flatMap(([from, , to]) => [from, to]).filter(Boolean))].map((state) => ({ state, means: "" })),
  moves: pairs.map(([from, on, to, when = ""]) => ({ from, on, to, when, events: [] })),
});
const OFFRAMP = table([
  [null, "confirm", "waiting"], ["waiting", "deposit_arrives", "processing"], ["waiting", "deposit_arrives", "failed", "short"], ["waiting", "expire", "expired"],
  ["processing", "complete", "completed"], ["processing", "fail", "failed"], ["failed", "refund", "refunded"], ["processing", "refund", "refunded"],
]);

test("states stand in columns by how far they are from the beginning", () => {
  assert.deepEqual(columnsOf(OFFRAMP), [["waiting"], ["processing", "failed", "expired"], ["completed", "refunded"]]);
});

test("no two states stand in one place, and all within the drawing", () => {
  const loops = table([[null, "start", "a"], ["a", "x", "b"], ["b", "y", "a"], ["b", "z", "c"], ["c", "w", "a"], ["c", "v", "c"]]);
  for (const [one, down] of [[OFFRAMP, false], [loops, false], [OFFRAMP, true], [loops, true]]) {
    const { nodes, size, width, height } = draw(one, ["nowhere"], down);
    assert.equal(new Set(nodes.map((node) => `${node.x} ${node.y}`)).size, one.states.length);
    assert.ok(nodes.every((node) => node.x >= 0 && node.y >= 0 && node.x + size.width <= width && node.y + size.height <= height));
  }
});

test("on a narrow screen ranks stand below each other, at most three states side by side", () => {
  const fan = table([[null, "start", "a"], ...["b", "c", "d", "e", "f"].map((state) => ["a", `to_${state}`, state])]);
  for (const one of [OFFRAMP, fan]) {
    const { nodes, width } = draw(one, ["nowhere"], true);
    assert.ok(width <= 420 - 2 * 16, `${width} px`);
    const rows = Map.groupBy ? Map.groupBy(nodes, (node) => node.y) : nodes.reduce((found, node) => found.set(node.y, [...(found.get(node.y) || []), node]), new Map());
    assert.ok([...rows.values()].every((row) => row.length <= 3));
  }
});

test("where it is, the way it went and where it can go are told apart", () => {
  const { nodes, edges } = draw(OFFRAMP, ["waiting", "processing", "failed"]);
  const sorts = Object.fromEntries(nodes.map((node) => [node.state, node.sort]));
  assert.deepEqual(sorts, { waiting: "been", processing: "been", failed: "now", expired: "other", completed: "other", refunded: "next" });
  assert.deepEqual(edges.filter((edge) => edge.sort === "gone").map((edge) => `${edge.from} ${edge.to}`), ["waiting processing", "processing failed"]);
  assert.deepEqual(edges.filter((edge) => edge.sort === "next").map((edge) => edge.to), ["refunded"]);
});

test("moves with the same ends are one line with all their names", () => {
  const two = table([[null, "start", "a"], ["a", "one_thing", "b"], ["a", "other", "b", "short"], ["a", "stay", "a"]]);
  assert.deepEqual(draw(two, ["a"]).edges.map((edge) => edge.label), ["one thing, other (short)"]);
});

test("a state that nothing leads to is drawn all the same", () => {
  const odd = { states: [{ state: "a" }, { state: "lost" }], moves: [{ from: null, on: "start", to: "a", when: "" }] };
  assert.deepEqual(columnsOf(odd), [["a"], ["lost"]]);
  assert.equal(draw(odd, []).nodes.length, 2);
});
