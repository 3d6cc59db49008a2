// The layout of a state diagram. States are in ranks by distance from the initial state, and transitions are curves.
// This module does not use the DOM, so Node can test it.

const EDGE = 14;
// Ranks are side by side, or one below the other on a phone. `along` is the coordinate from rank to rank, `across` the
// coordinate within a rank. `most` is the number of states that fit side by side.
const SIDEWAYS = { along: 132, across: 30, between: 64, apart: 24, most: Infinity, point: (along, across) => `${along} ${across}` };
const DOWNWARDS = { along: 30, across: 112, between: 40, apart: 10, most: 3, point: (along, across) => `${across} ${along}` };

/**
 * The layout of a state table: {width, height, nodes: [{state, x, y, sort}], edges: [{from, to, label, path, sort}]}. `went`: the
 * past states in order. Sorts of nodes: now, been, next (reachable with one transition), other. Sorts of edges: gone, next,
 * other. `down`: draw from top to bottom, for a narrow screen.
 */
export function draw(table, went, down = false) {
  const form = down ? DOWNWARDS : SIDEWAYS;
  const ranks = columnsOf(table).flatMap((states) => chunks(states, form.most)), now = went.at(-1);
  const widest = Math.max(...ranks.map((states) => states.length));
  const places = new Map();
  ranks.forEach((states, rank) => states.forEach((state, index) => places.set(state, {
    along: EDGE + rank * (form.along + form.between),
    across: EDGE + (index + (widest - states.length) / 2) * (form.across + form.apart),
  })));
  const gone = new Set(went.slice(1).map((state, index) => `${went[index]} ${state}`));
  const edges = [...together(table.moves)].map(([pair, names]) => {
    const [from, to] = pair.split(" ");
    const sort = gone.has(pair) ? "gone" : from === now ? "next" : "other";
    return { from, to, label: names.join(", "), sort, path: curve(places.get(from), places.get(to), form) };
  });
  const ahead = new Set(edges.filter((edge) => edge.from === now).map((edge) => edge.to));
  const nodes = [...places].map(([state, { along, across }]) => ({
    state, x: down ? across : along, y: down ? along : across,
    sort: state === now ? "now" : went.includes(state) ? "been" : ahead.has(state) ? "next" : "other",
  }));
  const order = { other: 0, next: 1, gone: 2 };
  const long = 2 * EDGE + ranks.length * form.along + (ranks.length - 1) * form.between;
  const wide = 2 * EDGE + widest * form.across + (widest - 1) * form.apart + (edges.some(isBack) ? 24 : 0);
  return {
    width: down ? wide : long, height: down ? long : wide, nodes,
    edges: edges.sort((one, other) => order[one.sort] - order[other.sort]),
    size: down ? { width: form.across, height: form.along } : { width: form.along, height: form.across },
  };
}

const isBack = (edge) => edge.path.includes("Q");

const chunks = (states, most) => states.length <= most ? [states] : [states.slice(0, most), ...chunks(states.slice(most), most)];

/** The ranks: the states by the number of transitions from the initial state. Unreachable states come last. */
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

/** Combine transitions between the same states into one edge with all their names. Omit transitions to the same state. */
function together(moves) {
  const found = new Map();
  for (const move of moves) {
    if (move.from === null || move.from === move.to) continue;
    const pair = `${move.from} ${move.to}`, name = move.on.replaceAll("_", " ") + (move.when ? ` (${move.when.replaceAll("_", " ")})` : "");
    found.set(pair, [...new Set([...(found.get(pair) || []), name])]);
  }
  return found;
}

function curve(from, to, { along, across, apart, point }) {
  const middle = across / 2;
  if (to.along > from.along) { // forwards
    const [start, end] = [from.along + along, to.along], bend = (end - start) / 2;
    const [side, other] = [from.across + middle, to.across + middle];
    return `M${point(start, side)} C${point(start + bend, side)} ${point(end - bend, other)} ${point(end, other)}`;
  }
  if (to.along === from.along) { // within a rank
    const onwards = to.across > from.across;
    const [start, end] = onwards ? [from.across + across, to.across] : [from.across, to.across + across];
    if (Math.abs(end - start) <= apart) return `M${point(from.along + along / 2, start)} L${point(from.along + along / 2, end)}`;
    const past = from.along + along + 28; // around the states in between
    return `M${point(from.along + along, from.across + middle)} C${point(past, from.across + middle)} ${point(past, to.across + middle)} ${point(to.along + along, to.across + middle)}`;
  }
  const [start, end] = [from.along + along / 2, to.along + along / 2]; // back
  const [side, other] = [from.across + across, to.across + across];
  return `M${point(start, side)} Q${point((start + end) / 2, Math.max(side, other) + 34)} ${point(end, other)}`;
}
