// What is shown stays true: `useRead(path, topics)` fetches, and fetches again when the stream tells that something changed.
// Many messages make one fetch, a slow server is asked less often, and what nobody shows is not read.
import { BASE, get, headers, needsToken, world } from "./api.js";
import { store, useEffect, useState } from "./lib.js";

/**
 * What the stream tells of (`scenarios`: files of a directory of them have changed), and `own` for what this page does itself
 * (faults, settings, uploads: no message tells of them).
 */
export const TOPICS = ["request", "state", "event", "delivery", "clock", "progress", "scenarios", "own"];
/** "connecting", "live" or "lost". */
export const connection = store("connecting");
/** The clock as it was last told, with `readAt` (milliseconds of the wall clock); null before. */
export const clock = store(null);
/** How far an advance that is under way has come, as the stream tells it; null when none is. */
export const progress = store(null);

const PAUSE_MS = 250;
const readings = new Map(); // path -> {value, error, topics, users, isStale, isReading}
const listeners = new Set();
let timer = null;

/**
 * What a GET answers: {value, error, reload}; value is undefined before the first answer, and the last one while anew is read.
 * `topics`: when to read it anew. A path of null reads nothing. `environment`: sandbox, unless it says production.
 */
export function useRead(path, topics = [], environment = undefined) {
  const [, redraw] = useState(0);
  const key = path === null ? null : `${world.get()} ${environment || ""} ${path}`;
  useEffect(() => {
    if (key === null) return undefined;
    const reading = readings.get(key) || { path, environment, ofWorld: world.get(), value: undefined, error: null, topics: new Set(), users: new Set(), isStale: true, isReading: false };
    readings.set(key, reading);
    topics.forEach((topic) => reading.topics.add(topic));
    const draw = () => redraw((count) => count + 1);
    reading.users.add(draw);
    if (reading.isStale && !reading.isReading) read(reading);
    return () => {
      reading.users.delete(draw);
      if (!reading.users.size) readings.delete(key);
    };
  }, [key]);
  const reading = readings.get(key);
  return { value: reading?.value, error: reading?.error ?? null, reload: () => reading && read(reading) };
}

async function read(reading) {
  if (reading.isReading) {
    reading.isStale = true;
    return;
  }
  reading.isReading = true;
  reading.isStale = false;
  try {
    reading.value = await get(reading.path, { environment: reading.environment });
    reading.error = null;
  } catch (error) {
    reading.error = error;
  }
  reading.isReading = false;
  if (reading.ofWorld === world.get()) reading.users.forEach((draw) => draw());
  if (reading.isStale) later();
}

/** Something changed: what is shown of these topics is read anew, soon and once. */
export function changed(...topics) {
  for (const reading of readings.values()) if (topics.some((topic) => reading.topics.has(topic))) reading.isStale = true;
  later();
}

/** After something was done by this page: everything shown is read anew. */
export function changedAll() {
  for (const reading of readings.values()) reading.isStale = true;
  later();
}

function later() {
  timer ||= setTimeout(async () => {
    timer = null;
    await Promise.all([...readings.values()].filter((reading) => reading.isStale && reading.users.size).map(read));
  }, PAUSE_MS);
}

/** Hear every message of the stream: listen((name, data) => …); returns how to stop. For counts and toasts, not for reading. */
export function listen(hear) {
  listeners.add(hear);
  return () => listeners.delete(hear);
}

function heard(name, data) {
  if (name === "clock") clock.set({ ...data, readAt: Date.now() });
  progress.set(name === "progress" ? data : name === "clock" ? null : progress.get());
  changed(name);
  for (const hear of [...listeners]) hear(name, data);
}

let following = null;
/** Follow the stream of the world that is shown, from now on and for ever. */
export async function follow() {
  following?.abort();
  const mine = (following = new AbortController());
  clock.set(null);
  connection.set("connecting");
  while (!mine.signal.aborted) {
    try {
      const answer = await fetch(`${BASE}/stream?world=${encodeURIComponent(world.get())}`, { headers: headers(), signal: mine.signal });
      if (answer.status === 401) return needsToken.set(true);
      if (!answer.ok) throw new Error("no stream");
      connection.set("live");
      changedAll();
      await messages(answer.body, heard);
    } catch { /* tried again below */ }
    if (mine.signal.aborted) return undefined;
    connection.set("lost");
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
  return undefined;
}

/** Take server-sent events apart: hear(name, data) for each whose data is JSON. */
export async function messages(body, hear) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", name = "", data = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split(/\r?\n/);
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith("event: ")) name = line.slice(7);
      else if (line.startsWith("data: ")) data += line.slice(6);
      else if (line === "") {
        if (name && data) hear(name, JSON.parse(data));
        name = data = "";
      }
    }
  }
}
