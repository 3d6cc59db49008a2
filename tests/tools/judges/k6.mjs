// Runs a k6 script once under Node: setup, two iterations, teardown. `k6/http` is curl; prints checks and thresholds.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const checks = [];
function send(method, url, body, { headers = {} } = {}) {
  const words = ["-s", "-X", method, "-w", "\n%{http_code}", url];
  for (const [name, value] of Object.entries(headers)) words.push("-H", `${name}: ${value}`);
  if (body !== null) words.push("--data-binary", body);
  const said = execFileSync("curl", words, { encoding: "utf-8" });
  const at = said.lastIndexOf("\n");
  const text = said.slice(0, at);
  return { status: Number(said.slice(at + 1)), body: text, json: (name) => JSON.parse(text)[name] };
}
globalThis.k6 = {
  http: { post: (...words) => send("POST", ...words), del: (...words) => send("DELETE", ...words) },
  check: (value, rules) => Object.entries(rules).forEach(([name, rule]) => checks.push([name, rule(value)])),
  sleep: () => {},
};
registerHooks({
  resolve: (name, context, next) => (name.startsWith("k6") ? { url: `${name.replace("/", "-")}:`, shortCircuit: true } : next(name, context)),
  load: (url, context, next) => {
    if (!url.startsWith("k6")) return next(url, context);
    const source = url === "k6-http:" ? "export default k6.http" : "export const { check, sleep } = k6";
    return { format: "module", source, shortCircuit: true };
  },
});
globalThis.__ENV = process.env;
globalThis.__VU = 1;
const copy = `${process.argv[3]}/load.mjs`;
writeFileSync(copy, readFileSync(process.argv[2]));
const script = await import(pathToFileURL(copy));
const data = script.setup();
for (globalThis.__ITER = 0; __ITER < 2; __ITER++) script.default(data);
script.teardown(data);
console.log(JSON.stringify({ checks, thresholds: script.options.thresholds }));
