// Enhancements of the page: expandable parts of schemas, samples in other languages, the filter.
"use strict";
const [wide, narrow] = ["(min-width: 70rem)", "(max-width: 48rem)"].map((query) => matchMedia(query).matches);
const { base, public: publicKey, secret, webhook } = document.body.dataset;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};
const text = (value) => JSON.stringify(value);
const indented = (raw) => JSON.stringify(JSON.parse(raw), null, 2);

// Fields of a schema and meanings of values exist once on the page. A copy is shown on demand.
const PARTS = 'main a[href^="#schema-"]:not(.home), main a[href^="#v-"]';
const homeOf = (link) => document.getElementById(link.hash.slice(1));
function copyOf(part) {
  const copy = part.cloneNode(true);
  for (const one of [copy, ...all("[id]", copy)]) one.removeAttribute("id");
  for (const inner of all("details.x", copy)) {
    inner.replaceWith(make("a", { href: inner.dataset.of, textContent: inner.firstChild.textContent }));
  }
  return copy;
}
function unfoldable(link) {
  const details = make("details", { className: "x" }, make("summary", { textContent: link.textContent }));
  details.dataset.of = link.hash;
  details.addEventListener("toggle", () => {
    const home = homeOf(link);
    complete(home);
    details.append(...(home.matches("ul") ? [home] : all(":scope > p, :scope > ul", home)).map(copyOf));
    for (const inner of all(PARTS, details)) unfoldable(inner);
    if (!home.matches("ul")) details.append(make("a", { className: "home", href: link.hash, textContent: `Link to ${link.textContent}` }));
  }, { once: true });
  link.replaceWith(details);
}
// Insert fields and values that are described elsewhere.
function complete(within) {
  for (const same of all(".same", within)) {
    const home = homeOf(same.querySelector("a"));
    complete(home);
    const names = same.querySelector("samp").textContent.split(" ");
    same.replaceWith(...all(home.matches("ul") ? ":scope > li" : ":scope > .f > li", home).filter((row) => names.includes(row.firstChild.textContent)).map(copyOf));
  }
}

// The literals of a language for a JSON value.
const spaces = (depth) => "    ".repeat(depth);
function literal(value, style, depth = 1) {
  if (value === null || typeof value !== "object") return style.scalar(value);
  const rows = Array.isArray(value)
    ? value.map((member) => literal(member, style, depth + 1))
    : Object.entries(value).map(([name, member]) => style.scalar(name) + style.colon + literal(member, style, depth + 1));
  const [open, close] = Array.isArray(value) ? "[]" : style.braces;
  return rows.length ? `${open}\n${rows.map((row) => spaces(depth) + row + ",\n").join("")}${spaces(depth - 1)}${close}` : open + close;
}
const PYTHON = { braces: "{}", colon: ": ", scalar: (value) => ({ null: "None", true: "True", false: "False" })[value] ?? text(value) };
const SCRIPT = { braces: "{}", colon: ": ", scalar: text };
const PHP = { braces: "[]", colon: " => ", scalar: (value) => typeof value === "string" ? `'${value.replace(/[\\']/g, "\\$&")}'` : text(value) };

// Each language: a whole program that makes the call, and one that checks a signature.
const languages = {
  curl: {
    call: ({ method, path, body, open, key }) => [
      (open ? "" : document.getElementById("token").textContent + "\n") + `curl -sS -X ${method} '${base}/v1${path}'`,
      open ? "" : `-H "Authorization: Bearer $TOKEN"`,
      key ? `-H "Idempotency-Key: $(openssl rand -hex 16)"` : "",
      body === undefined ? "" : `-H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body, null, 2).replace(/'/g, "\\u0027")}'`,
    ].filter(Boolean).join(" \\\n  "),
    check: (event) => `TIMESTAMP=${event.timestamp}
RAW='${event.raw}'
printf '%s' "$TIMESTAMP.$RAW" | openssl dgst -sha256 -hmac ${webhook} | sed 's/.*= //'
# X-Signature: ${event.signature}`,
  },
  Python: {
    call: ({ method, path, body, open, key }) => `${key ? "import uuid\n" : ""}import httpx\n
api = httpx.Client(base_url="${base}/v1")
` + (open ? "" : `token = api.post("/auth/token", json={"public_key": "${publicKey}", "secret_key": "${secret}"})
api.headers["Authorization"] = "Bearer " + token.json()["access_token"]
`) + `answer = api.request(
    "${method}",
    ${text(path)},
${key ? `    headers={"Idempotency-Key": str(uuid.uuid4())},\n` : ""}${body === undefined ? "" : `    json=${literal(body, PYTHON, 2)},\n`})
print(answer.status_code, answer.text)`,
    check: ({ raw, timestamp, signature }) => `import hashlib, hmac\n
raw = r'''${raw}'''.encode()  # the body as it came
timestamp, signature = "${timestamp}", "${signature}"
expected = hmac.new(b"${webhook}", timestamp.encode() + b"." + raw, hashlib.sha256).hexdigest()
print(hmac.compare_digest(expected, signature))`,
  },
  JavaScript: {
    call: ({ method, path, body, open, key }) => `const base = "${base}/v1";
const json = { "Content-Type": "application/json" };
` + (open ? "" : `const token = await fetch(base + "/auth/token", {
    method: "POST",
    headers: json,
    body: JSON.stringify({ public_key: "${publicKey}", secret_key: "${secret}" }),
});
const { access_token } = await token.json();
`) + `const answer = await fetch(base + ${text(path)}, {
    method: "${method}",
    headers: { ${["...json", open ? "" : "Authorization: `Bearer ${access_token}`", key ? `"Idempotency-Key": crypto.randomUUID()` : ""].filter(Boolean).join(", ")} },
${body === undefined ? "" : `    body: JSON.stringify(${literal(body, SCRIPT, 2)}),\n`}});
console.log(answer.status, await answer.text());`,
    check: ({ raw, timestamp, signature }) => `import { createHmac, timingSafeEqual } from "node:crypto";\n
const raw = String.raw\`${raw}\`; // the body as it came
const [timestamp, signature] = ["${timestamp}", "${signature}"];
const expected = createHmac("sha256", "${webhook}").update(timestamp + "." + raw).digest();
console.log(timingSafeEqual(expected, Buffer.from(signature, "hex")));`,
  },
  PHP: {
    call: ({ method, path, body, open, key }) => `<?php
function call(string $method, string $path, array $headers, ?array $body = null): string {
    $headers[] = 'Content-Type: application/json';
    $options = ['method' => $method, 'header' => $headers, 'ignore_errors' => true];
    if ($body !== null) $options['content'] = json_encode($body);
    return file_get_contents('${base}/v1' . $path, false, stream_context_create(['http' => $options]));
}
` + (open ? "" : `$token = json_decode(call('POST', '/auth/token', [], ['public_key' => '${publicKey}', 'secret_key' => '${secret}']));
`) + `echo call('${method}', ${PHP.scalar(path)}, [${[open ? "" : `"Authorization: Bearer {$token->access_token}"`, key ? `'Idempotency-Key: ' . bin2hex(random_bytes(16))` : ""].filter(Boolean).join(", ")}]${body === undefined ? "" : `, ${literal(body, PHP, 1)}`});`,
    check: ({ raw, timestamp, signature }) => `<?php
$raw = <<<'RAW'
${raw}
RAW; // the body as it came
[$timestamp, $signature] = ['${timestamp}', '${signature}'];
var_dump(hash_equals(hash_hmac('sha256', "$timestamp.$raw", '${webhook}'), $signature));`,
  },
  Go: {
    call: ({ method, path, body, open, key }) => `package main\n
import (
${["crypto/rand", "encoding/json", "fmt", "io", "net/http", "strings"].filter((name) => (key || !name.startsWith("crypto")) && (!open || !name.startsWith("encoding"))).map((name) => `\t"${name}"`).join("\n")}
)\n
func call(method, path, body string, headers ...string) []byte {
	request, err := http.NewRequest(method, "${base}/v1"+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(err)
	}
	return content
}\n
func main() {
${open ? "" : `	var token struct{ AccessToken string \`json:"access_token"\` }
	err := json.Unmarshal(call("POST", "/auth/token", \`{"public_key":"${publicKey}","secret_key":"${secret}"}\`), &token)
	if err != nil {
		panic(err)
	}
`}${key ? `	key := make([]byte, 16)
	rand.Read(key)
` : ""}	fmt.Println(string(call("${method}", ${text(path)}, ${body === undefined ? '""' : "`" + JSON.stringify(body, null, 2).replace(/`/g, "\\u0060") + "`"}${open ? "" : `, "Authorization", "Bearer "+token.AccessToken`}${key ? `, "Idempotency-Key", fmt.Sprintf("%x", key)` : ""})))
}`,
    check: ({ raw, timestamp, signature }) => `package main\n
import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)\n
func main() {
	raw := \`${raw}\` // the body as it came
	timestamp, signature := "${timestamp}", "${signature}"
	mac := hmac.New(sha256.New, []byte("${webhook}"))
	mac.Write([]byte(timestamp + "." + raw))
	sent, _ := hex.DecodeString(signature)
	fmt.Println(hmac.Equal(mac.Sum(nil), sent))
}`,
  },
};

// One language for the whole page, saved between visits if the browser allows it.
let chosen = "curl";
try { chosen = localStorage.getItem("language") in languages ? localStorage.getItem("language") : chosen; } catch { /* not allowed */ }
const samples = [];
function choose(language) {
  chosen = language;
  try { localStorage.setItem("language", language); } catch { /* not allowed */ }
  for (const { pick, write } of samples) { pick.value = language; write(); }
}
function sample(pre, what, write) {
  const pick = make("select", { ariaLabel: `Language: ${what}` }, ...Object.keys(languages).map((name) => make("option", { textContent: name })));
  pick.value = chosen;
  pick.addEventListener("change", () => {
    const before = pick.getBoundingClientRect().top;
    choose(pick.value);
    scrollBy(0, pick.getBoundingClientRect().top - before);
  });
  pre.tabIndex = 0;
  pre.before(make("div", { className: "bar" }, pick, copier(pre, what)));
  const entry = { pick, write: () => { pre.textContent = write(chosen); } };
  samples.push(entry);
  entry.write();
}
function copier(pre, what) {
  const button = make("button", { type: "button", textContent: "Copy", ariaLabel: `Copy: ${what}` });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(pre);
      button.textContent = "Selected";
    }
  });
  return button;
}

// A section is enhanced when it comes near the viewport, so that the page appears quickly.
function enliven(section) {
  complete(section);
  for (const link of all(PARTS, section)) unfoldable(link);
  for (const item of all(".c > li", section)) {
    const cause = document.querySelector(`#${item.querySelector("a").hash.slice(1)} > p`).cloneNode(true);
    item.querySelector("a").after(" ", ...cause.childNodes);
  }
  for (const pre of all("pre.call", section)) {
    const [line, raw] = pre.textContent.split("\n");
    const [method, path] = line.split(" ");
    const open = pre.dataset.open !== undefined;
    const call = { method, path, open, key: method === "POST" && !open, body: raw && JSON.parse(raw) };
    sample(pre, section.id, (language) => languages[language].call(call));
  }
  if (section.className === "code") {
    const by = all(`.c a[href="#${section.id}"]`).map((link) => link.closest("section").id);
    const links = by.flatMap((name) => [", ", make("a", { href: `#${name}`, textContent: name })]).slice(1);
    section.append(make("p", { className: "d" }, "Returned by ", ...(by.length ? links : ["any call"])));
  }
  if (section.id.startsWith("event-")) {
    const pre = document.getElementById("trigger").cloneNode(true);
    pre.removeAttribute("id");
    pre.querySelector("span").textContent = section.id.slice("event-".length);
    section.querySelector(".right").prepend(make("div", { className: "bar" }, copier(pre, section.id)), pre);
  }
  if (section.id === "start") document.getElementById("token").before(make("div", { className: "bar" }, copier(document.getElementById("token"), "the token")));
  for (const details of all("details.e", section)) {
    const pre = details.querySelector("pre");
    const raw = pre.textContent;
    const { t: timestamp, s: signature } = pre.dataset;
    pre.textContent = indented(raw);
    pre.tabIndex = 0;
    if (!signature) details.open = wide;
    else details.addEventListener("toggle", () => {
      const check = make("pre", { tabIndex: 0 });
      details.append(check);
      sample(check, `the signature of ${section.id}`, (language) => languages[language].check({ raw, timestamp, signature }));
    }, { once: true });
  }
}
const near = new IntersectionObserver((seen) => {
  for (const { isIntersecting, target } of seen) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    enliven(target);
  }
}, { rootMargin: "1000px" });
for (const section of all("section")) near.observe(section);

// The table of contents: what is in each chapter, and its filter.
const contents = document.querySelector("nav details");
let list;
for (const part of document.querySelector("main").children) {
  const link = part.id && contents.querySelector(`a[href="#${part.id}"]`);
  if (link) link.after(list = make("ul"));
  else if (part.tagName === "SECTION" && list) {
    const title = part.querySelector("h3");
    list.append(make("li", {}, make("a", { href: `#${part.id}`, textContent: (title.querySelector("code") || title).textContent })));
  }
}
if (narrow) contents.open = false;
const filter = document.getElementById("filter");
filter.parentElement.hidden = false;
filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/);
  let found = 0;
  for (const item of all("li", contents)) {
    const { hash } = item.firstChild;
    const way = document.getElementById(hash.slice(1)).querySelector(".way")?.textContent;
    const about = `${item.textContent} ${hash} ${way}`.toLowerCase();
    item.hidden = !words.every((word) => about.includes(word));
    found += item.hidden ? 0 : 1;
  }
  for (const part of all("ul", contents)) {
    part.hidden = !part.querySelector("li:not([hidden])");
    part.previousElementSibling.hidden = part.hidden && words[0] !== "";
  }
  contents.open = true;
  document.getElementById("none").textContent = found ? "" : "No matches.";
});
