import { readFileSync } from "node:fs";
import { afterEach, expect, test as plain, vi } from "vitest";
import { isGenuine, World } from "../src/index.js";
import { test } from "../src/vitest.js";

const LIVE = { publicKey: "pk_live_9f8e7d6c", secretKey: "sk_live_9f8e7d6c" };

afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

function nothingIsSent(): () => void {
  const sent = vi.fn(() => Promise.reject(new Error("something was sent")));
  vi.stubGlobal("fetch", sent);
  return () => expect(sent).not.toHaveBeenCalled();
}

test("a live key is refused before anything is sent", async ({ world }) => {
  const checked = nothingIsSent();
  expect(() => world.signIn(LIVE)).toThrow(/live key pk_live_9f8.* belongs to the real service/);
  const body = { public_key: LIVE.publicKey, secret_key: LIVE.secretKey };
  await expect(world.call("post", "/auth/token", { body })).rejects.toThrow(/was not sent/);
  await expect(world.call("get", "/profile", { headers: { "X-Key": LIVE.secretKey } })).rejects.toThrow(/was not sent/);
  checked();
  vi.unstubAllGlobals();
});

test("the live keys of simulated production work, and those of the world default need not be asked for", async ({ world }) => {
  const wrong = { public_key: "pk_live_simulator", secret_key: "sk_live_simulator_wrong" };
  await expect(world.call("post", "/auth/token", { body: wrong })).rejects.toMatchObject({ status: 401 });
  expect((await world.production.call("get", "/profile")).kyc_status).toBe("approved");
});

for (const url of ["https://api.example.com", "http://10.0.0.7:8642", "http://127.0.0.1.example.com", "http://localhost.example.com", "http://rampsim:8642"]) {
  plain(`a simulator at ${url} is refused before anything is sent`, async () => {
    vi.stubEnv("SIMULATOR_URL", url);
    const checked = nothingIsSent();
    await expect(World.create()).rejects.toThrow(/SIMULATOR_ALLOW_HOSTS=/);
    checked();
  });
}

plain.for(["rampsim", "other,*.team.svc"])("a host that %s allows is asked", async (allowed) => {
  const host = allowed.replace("other,*", "rampsim");
  vi.stubEnv("SIMULATOR_URL", `http://${host}:8642`);
  vi.stubEnv("SIMULATOR_ALLOW_HOSTS", allowed);
  vi.stubGlobal("fetch", () => Promise.reject(new Error("", { cause: new Error("asked") })));
  await expect(World.create()).rejects.toThrow(/No simulator answers at http:\/\/rampsim.*:8642 \(asked\).*rampsim serve/);
});

type Vector = { rule: string; reason: string; headers: Record<string, string>; body_base64: string; genuine: boolean };
const { key, now_ms, vectors } = JSON.parse(readFileSync(new URL("../../../webhook-vectors.json", import.meta.url), "utf8"));
plain.for(vectors as Vector[])("$rule: $reason", ({ headers, body_base64, genuine }) => {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  expect(isGenuine(key, lower, Buffer.from(body_base64, "base64"), now_ms)).toBe(genuine);
});
