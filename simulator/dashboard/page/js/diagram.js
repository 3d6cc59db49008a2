// How a state table is drawn: states in columns by how far they are from the beginning, moves as curves between them.
// No document is needed here, so Node tests it.

const WIDTH = 132, HEIGHT = 30, ACROSS = 64, DOWN = 24, EDGE = 14;

/**
 * The drawing of a table: {width, height, nodes: [{state, x, y, sort}], edges: [{from, to, label, path, sort}]}. `went`: the
 * states gone through, in their order. Sorts of nodes: now, been, next (a move leads there) and other; of edges: gone, next, other.
 */
export function draw(table, went) {
  const columns = columnsOf(table), now = went.at(-1);
  const place = new Map();
  columns.forEach((states, column) => states.forEach((state, row) => place.set(state, { column, row, rows: states.length })));
  const tallest = Math.max(...columns.map((states) => states.length));
  const at = (state) => {
    const { column, row, rows } = place.get(state);
    return { x: EDGE + column * (WIDTH + ACROSS), y: EDGE + (row + (tallest - rows) / 2) * (HEIGHT + DOWN) };
  };
  const gone = new Set(went.slice(1).map((state, index) => `${went[index]} ${state}`));
  const edges = [...together(table.moves)].map(([pair, names]) => {
    const [from, to] = pair.split(" ");
    const sort = gone.has(pair) ? "gone" : from === now ? "next" : "other";
    return { from, to, label: names.join(", "), sort, path: curve(at(from), at(to)) };
  });
  const ahead = new Set(edges.filter((edge) => edge.from === now).map((edge) => edge.to));
  const nodes = [...place.keys()].map((state) => ({
    state, ...at(state), sort: state === now ? "now" : went.includes(state) ? "been" : ahead.has(state) ? "next" : "other",
  }));
  const order = { other: 0, next: 1, gone: 2 };
  return {
    width: 2 * EDGE + columns.length * WIDTH + (columns.length - 1) * ACROSS,
    height: 2 * EDGE + tallest * HEIGHT + (tallest - 1) * DOWN + (edges.some(isBack) ? DOWN : 0),
    nodes,
    edges: edges.sort((one, other) => order[one.sort] - order[other.sort]),
    size: { width: WIDTH, height: HEIGHT },
  };
}

const isBack = (edge) => edge.path.includes("Q");

/** The states by the fewest moves from the beginning; what nothing leads to comes last. Ends stand after what leads to them. */
export function columnsOf(table) {
  const distance = new Map();
  let reached = table.moves.filter((move) => move.from === null).map((move) => move.to);
  for (let step = 0; reached.length; step += 1) {
    const fresh = [...new Set(reached)].filter((state) => !distance.has(state));
    fresh.forEach((state) => distance.set(state, step));
    reached = table.moves.filter((move) => fresh.includes(move.from)).map((move) => move.to);
  }
  const last = Math.max(0, ...distance.values()) + 1;
  const columns = [];
  for (const { state } of table.states) {
    const column = distance.get(state) ?? last;
    (columns[column] ||= []).push(state);
  }
  return columns.filter(Boolean);
}

/** Moves with the same ends are one line, with all their names; a move that stays where it is has none. */
function together(moves) {
  const found = new Map();
  for (const move of moves) {
    if (move.from === null || move.from === move.to) continue;
    const pair = `${move.from} ${move.to}`, name = move.on.replaceAll("_", " ") + (move.when ? ` (${move.when.replaceAll("_", " ")})` : "");
    found.set(pair, [...new Set([...(found.get(pair) || []), name])]);
  }
  return found;
}

function curve(from, to) {
  const middle = HEIGHT / 2;
  if (to.x > from.x) {
    const [x1, y1, x2, y2] = [from.x + WIDTH, from.y + middle, to.x, to.y + middle], bend = (x2 - x1) / 2;
    return `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  }
  if (to.x === from.x) {
    const down = to.y > from.y, x = from.x + WIDTH / 2;
    const [y1, y2] = down ? [from.y + HEIGHT, to.y] : [from.y, to.y + HEIGHT];
    const side = Math.abs(y2 - y1) > DOWN ? WIDTH / 2 + 18 : 0; // past what stands between
    return side ? `M${from.x + WIDTH} ${from.y + middle} C${x + side + 10} ${from.y + middle} ${x + side + 10} ${to.y + middle} ${to.x + WIDTH} ${to.y + middle}` : `M${x} ${y1} L${x} ${y2}`;
  }
  const [x1, y1, x2, y2] = [from.x + WIDTH / 2, from.y + HEIGHT, to.x + WIDTH / 2, to.y + HEIGHT];
  return `M${x1} ${y1} Q${(x1 + x2) / 2} ${Math.max(y1, y2) + DOWN + 10} ${x2} ${y2}`;
}
