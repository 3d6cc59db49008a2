// What is shown stays true: `useRead(path, topics)` fetches, and fetches again when the stream tells that something changed.
// Many messages make one fetch, a slow server is asked less often, and what nobody shows is not read.
import { BASE, get, headers, needsToken, world } from "./api.js";
import { store, useEffect, useState } from "./lib.js";

/**
 * What the stream tells of (`scenarios`: files of a directory of them have changed), and `own` for what this page does itself
 * (faults, settings, uploads: no message tells of them).
 */
export const TOPICS = ["request", "state", "event", "delivery", "clock", "progress", "scenarios", "own"];
/** "connecting", "live", "lost", or "absent" where there is no such world. */
export const connection = store("connecting");
/** The clock as it was last told, with `readAt` (milliseconds of the wall clock); null before. */
export const clock = store(null);
/** How far an advance that is under way has come, as the stream tells it; null when none is. */
export const progress = store(null);

const PAUSE_MS = 250;
const SHARE = 4; // after reading for a while, the server is left alone for so many times as long
const readings = new Map(); // path -> {value, error, topics, users, isStale, isReading}
const listeners = new Set();
let timer = null, pauseMs = PAUSE_MS;

/**
 * What a GET answers: {value, error, reload}; value is undefined before the first answer, and the last one while anew is read.
 * `topics`: when to read it anew. A path of null reads nothing. `environment`: sandbox, unless it says production.
 */
export function useRead(path, topics = [], environment = undefined) {
  const [, redraw] = useState(0);
  const key = path === null ? null : `${world.get()} ${environment || ""} ${path}`;
  const known = readings.get(key);
  const drawn = known?.value;
  useEffect(() => {
    if (key === null) return undefined;
    const reading = readings.get(key) || { path, environment, ofWorld: world.get(), value: undefined, error: null, topics: new Set(), users: new Set(), isStale: true, isReading: false };
    readings.set(key, reading);
    topics.forEach((topic) => reading.topics.add(topic));
    const draw = () => redraw((count) => count + 1);
    reading.users.add(draw);
    if (reading.isStale && !reading.isReading) read(reading);
    if (reading.value !== drawn) draw(); // it came between drawing and this
    return () => {
      reading.users.delete(draw);
      if (!reading.users.size) readings.delete(key);
    };
  }, [key]);
  return { value: drawn, error: known?.error ?? null, reload: () => known && read(known) };
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

/** After something was done by this page: everything shown is read anew, at once. */
export function changedAll() {
  pauseMs = PAUSE_MS;
  for (const reading of readings.values()) reading.isStale = true;
  later();
}

function later() {
  timer ||= setTimeout(async () => {
    timer = null;
    const began = Date.now();
    await Promise.all([...readings.values()].filter((reading) => reading.isStale && reading.users.size).map(read));
    pauseMs = Math.max(PAUSE_MS, SHARE * (Date.now() - began));
  }, pauseMs);
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
/** Follow the stream of the world that is shown, from now on and for ever, unless there is no such world. */
export async function follow() {
  following?.abort();
  const mine = (following = new AbortController());
  clock.set(null);
  connection.set("connecting");
  while (!mine.signal.aborted) {
    try {
      const answer = await fetch(`${BASE}/stream?world=${encodeURIComponent(world.get())}`, { headers: headers(), signal: mine.signal });
      if (answer.status === 401) return needsToken.set(true);
      if (answer.status === 404) return connection.set("absent");
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
