"use strict";

// Everything that comes from a page or a search is put in as text, never as HTML.
const root = document.body.dataset.root;
const form = document.querySelector(".search");
const input = form.elements.q;
const hits = document.querySelector(".hits");

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// --- colors of code

const HASH = /#.*/y;
const SLASHES = /\/\/.*|\/\*[^]*?\*\//y;
const STRING = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`/y;
const WORDS = {
  bash: "if then else fi for in do done while case esac function return export exec set",
  python: "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield",
  javascript: "as async await break case catch class const continue default do else export extends false finally for from function if import in interface let new null of return switch throw true try type typeof undefined while",
  go: "break case const continue defer else false for func go if import interface map nil package range return select struct switch true type var",
  java: "catch class else extends false final finally for if import new null package private public return static throw throws true try var void while",
  php: "array catch class echo else false fn foreach function if new null public return static throw true try use while",
  ruby: "begin class def do else elsif end ensure false if nil require rescue return self then true unless while yield",
};
WORDS.typescript = WORDS.javascript;
WORDS.console = WORDS.bash;

// What may begin at a place of a language, in the order in which it is tried: the class of the color and its pattern.
function rulesOf(language) {
  const data = [["key", /"(?:\\.|[^"\\])*"(?=\s*:)/y], ["string", STRING], ["word", /\b(?:true|false|null)\b/y]];
  const number = ["number", /(?<![\w.-])-?\d[\d_.]*(?:e[+-]?\d+)?\b/y];
  if (language === "json") return [...data, number];
  if (language === "http") return [["word", /^(?:GET|POST|PUT|PATCH|DELETE|HTTP\/[\d.]+)\b/my], ["key", /^[A-Za-z-]+(?=: )/my], ...data, number];
  if (language === "yaml" || language === "toml") {
    return [["comment", /(?<!\S)#.*/y], ["key", /(?<=^|[\s{,[-])[\w./-]+(?=:(?:\s|$)|\s*=)/my], ...data, number];
  }
  if (!WORDS[language]) return [];
  const words = ["word", new RegExp(`(?<![\\w$.-])(?:${WORDS[language].replaceAll(" ", "|")})(?![\\w-])`, "y")];
  if (WORDS[language] === WORDS.bash) {
    return [["comment", /(?<!\S)#.*/y], ["string", STRING], ["key", /\$\w+|\$\{[^}]*\}|(?<!\S)--?[A-Za-z][\w-]*/y], words];
  }
  return [["comment", /^(?:python|ruby)$/.test(language) ? HASH : SLASHES], ["string", STRING], words, number];
}

function color(code) {
  const rules = rulesOf(/language-(\w+)/.exec(code.className)?.[1]);
  if (!rules.length) return;
  const text = code.textContent;
  const parts = [];
  let plain = 0;
  for (let place = 0; place < text.length; ) {
    const hit = rules.map(([kind, pattern]) => ((pattern.lastIndex = place), [kind, pattern.exec(text)?.[0]])).find(([, part]) => part);
    if (!hit) {
      place += 1;
      continue;
    }
    parts.push(text.slice(plain, place), element("span", hit[1], { class: hit[0] }));
    plain = place += hit[1].length;
  }
  code.replaceChildren(...parts, text.slice(plain));
}

document.querySelectorAll("pre > code").forEach(color);

// --- code blocks

for (const code of document.querySelectorAll("pre > code")) {
  const block = document.createElement("div");
  block.className = "block";
  code.parentElement.replaceWith(block);
  const pre = element("pre", "", { tabindex: "0" });
  pre.append(code);
  const button = element("button", "Copy", { type: "button", class: "copy" });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  block.append(pre, button);
}

// --- search

let asked = 0;
let selected = -1;

function close() {
  hits.hidden = true;
  selected = -1;
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
}

function select(number) {
  const rows = [...hits.querySelectorAll("a")];
  if (!rows.length) return;
  selected = (number + rows.length) % rows.length;
  rows.forEach((row, place) => row.setAttribute("aria-selected", String(place === selected)));
  rows[selected].scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", rows[selected].id);
}

function show(found) {
  const rows = found.map((hit, place) => {
    const row = element("a", "", {
      href: root + hit.path,
      id: `hit${place}`,
      role: "option",
      tabindex: "-1",
      "aria-selected": "false",
    });
    row.append(element("b", hit.heading || hit.title), element("small", hit.title), element("p", hit.text));
    return row;
  });
  hits.replaceChildren(...(rows.length ? rows : [element("p", "Nothing has these words.")]));
  hits.hidden = false;
  input.setAttribute("aria-expanded", "true");
  selected = -1;
  if (rows.length) select(0);
}

async function search() {
  const mine = ++asked;
  const words = input.value.trim();
  if (!words) return close();
  const answer = await fetch(`${root}search?q=${encodeURIComponent(words)}`);
  const { data } = await answer.json();
  if (mine === asked) show(data);
}

input.addEventListener("input", search);
input.addEventListener("focus", () => input.value && search());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  hits.querySelectorAll("a")[Math.max(selected, 0)]?.click();
});
form.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    close();
    input.blur();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    select(selected + (event.key === "ArrowDown" ? 1 : -1));
  }
});
document.addEventListener("click", (event) => form.contains(event.target) && event.target.closest("a") === null || close());
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) {
    event.preventDefault();
    input.focus();
    input.select();
  }
});

// --- navigation

const pages = document.querySelector(".pages");
const menu = document.querySelector(".menu");
pages.classList.add("closed");
menu.addEventListener("click", () => {
  menu.setAttribute("aria-expanded", String(!pages.classList.toggle("closed")));
});
pages.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });

const entries = new Map([...document.querySelectorAll("aside a")].map((link) => [link.hash.slice(1), link]));
const seen = new IntersectionObserver(
  (changes) => {
    for (const change of changes) {
      if (!change.isIntersecting) continue;
      for (const link of entries.values()) link.removeAttribute("aria-current");
      entries.get(change.target.id)?.setAttribute("aria-current", "true");
    }
  },
  { rootMargin: "-80px 0px -70% 0px" },
);
for (const anchor of entries.keys()) {
  const heading = document.getElementById(anchor);
  if (heading) seen.observe(heading);
}
