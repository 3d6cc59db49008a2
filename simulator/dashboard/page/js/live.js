// Data stays current: `useRead(path, topics)` fetches, and fetches again after changes reported by the stream.
// Many messages cause one fetch, a slow server is called less often, and data that is not shown is not fetched.
import { BASE, get, headers, needsToken, world } from "./api.js";
import { store, useEffect, useState } from "./lib.js";

/**
 * Topics of the stream (`scenarios`: files in a watched directory changed), and `own` for changes by this page
 * (faults, settings, uploads), which the stream does not report.
 */
export const TOPICS = ["request", "state", "event", "delivery", "clock", "progress", "scenarios", "own"];
/** "connecting", "live", "lost", or "absent" if the world does not exist. */
export const connection = store("connecting");
/** The last reported clock, with `readAt` (real time in milliseconds); null before the first report. */
export const clock = store(null);
/** The progress of a running advance; null if there is none. */
export const progress = store(null);

const PAUSE_MS = 250;
const SHARE = 4; // the pause after a fetch, as a multiple of the duration of the fetch
const readings = new Map(); // path -> {value, error, topics, users, isStale, isReading}
const listeners = new Set();
let timer = null, pauseMs = PAUSE_MS;

/**
 * The response of a GET: {value, error, reload}. value is undefined before the first response; during a reload it is the
 * previous one. `topics`: reload after these changes. A null path fetches nothing. `environment`: default sandbox.
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
    if (reading.value !== drawn) draw(); // the value arrived between drawing and this subscription
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

/** Schedule one reload of the shown data of these topics. */
export function changed(...topics) {
  for (const reading of readings.values()) if (topics.some((topic) => reading.topics.has(topic))) reading.isStale = true;
  later();
}

/** Reload all shown data immediately, after a change by this page. */
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

/** Subscribe to all messages of the stream: listen((name, data) => …). Returns an unsubscribe function. For counts and toasts only. */
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
/** Follow the stream of the current world permanently, unless the world does not exist. */
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

/** Parse server-sent events: call hear(name, data) for each event with JSON data. */
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
