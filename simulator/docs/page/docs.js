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
