"""Accessibility problems that axe-core finds in the current page."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tests.tools.judges import tools

COLOURS = ("color-contrast", "link-in-text-block")
"""The rules that colours decide."""
_RUN = """async (rules) => {
  const about = (node) => [...node.any, ...node.all, ...node.none].map((check) => check.message).join("; ");
  const shown = (node) => `${node.html.slice(0, 160)} [${about(node).slice(0, 200)}]`;
  const { violations } = await axe.run(document, { resultTypes: ["violations"], ...(rules ? { runOnly: rules } : {}) });
  return violations.map((rule) => `${rule.id} (${rule.impact}): ${rule.nodes.slice(0, 4).map(shown).join(" | ")}`);
}"""


def violations(page: Page, rules: tuple[str, ...] | None = None) -> list[str]:
    """A line for each rule that is broken, of these or of all, with the elements that break it."""
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate((tools.package("axe-core") / "axe.min.js").read_text("utf-8"))
    found: Any = page.evaluate(_RUN, list(rules) if rules else None)
    return list(found)
