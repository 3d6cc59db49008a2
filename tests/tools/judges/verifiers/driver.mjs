import { readFileSync } from "node:fs";
import { isGenuine } from "./verify.mjs";

const [head, ...lines] = readFileSync(0, "utf8").trimEnd().split("\n");
const [key, nowMs] = head.split("\t");
for (const line of lines) {
  const [timestamp, signature, body] = line.split("\t");
  console.log(isGenuine(key, timestamp, signature, Buffer.from(body, "base64"), Number(nowMs)));
}
