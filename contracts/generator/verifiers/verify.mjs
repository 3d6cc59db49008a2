import { createHmac, timingSafeEqual } from "node:crypto";

export function isGenuine(key, timestamp, signature, body, nowMs) {
  if (!/^[0-9]{1,15}$/.test(timestamp) || Math.abs(nowMs - Number(timestamp)) > 300_000) return false;
  const expected = createHmac("sha256", key).update(`${timestamp}.`).update(body).digest("hex");
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, Buffer.from(expected));
}
