"""What came of an examination: for people, as JSON, and as JUnit for CI."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from textwrap import fill

from simulator.certification.examining import Broken, Exchange, Verdict
from simulator.certification.rules import Rule
from simulator.engine.text.citations import links_of, read_by
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

_SHOWN_BYTES = 1000
_SHOWN_CHARACTERS = 160
_WIDTH = 120
_WORDS: Mapping[Verdict, str] = {"pass": "pass", "fail": "FAIL", "skipped": "skipped"}


@dataclass(frozen=True)
class Result:
    """What came of one rule.

    `blocked_by`: the rules that do not hold, and without which it says nothing; `broken_by`: the request that the
    receiver did not answer as it should; `note`: what was not looked at.
    """

    rule: Rule
    verdict: Verdict
    sent: str
    got: str
    advice: str
    exchanges: Sequence[Exchange] = ()
    blocked_by: Sequence[str] = ()
    broken_by: Exchange | None = None
    note: str = ""

    @property
    def in_the_way(self) -> Sequence[str]:
        """The rules that have to hold before one that needs this one says anything."""
        return (self.rule.name,) if self.verdict == "fail" else self.blocked_by

    @property
    def line(self) -> str:
        """One line of progress."""
        said = {
            "pass": f"{self.rule.title}{self.note}",
            "fail": f"{self.rule.title}: no, {self.got}",
            "skipped": self.got,
        }[self.verdict]
        return f"{_WORDS[self.verdict]:7}  {self.rule.name:27}  {said}"

    def document(self) -> JsonObject:
        rule = self.rule
        return {
            "rule": rule.name,
            "title": rule.title,
            "verdict": self.verdict,
            "clause": rule.clause,
            "docs": links_of(rule.clause),
            "sent": self.sent,
            "got": self.got,
            "wanted": rule.wanted,
            "advice": self.advice,
            "exchanges": [_shown(one) for one in self.exchanges],
        }


def passed(rule: Rule, exchanges: Sequence[Exchange], *, unread: str = "") -> Result:
    """The result of a rule that holds. `unread` says why the books did not judge it, "" where they did."""
    sent, got = (_joined([getattr(one, name) for one in exchanges]) for name in ("sent", "got"))
    note = f" (as far as answers tell; {unread})" if unread and rule.booked else ""
    return Result(rule, "pass", sent, f"{got}{note}", "", exchanges, note=note)


def failed(rule: Rule, broken: Broken, exchanges: Sequence[Exchange]) -> Result:
    advice = f"{broken.advice} {rule.advice}" if broken.advice else rule.advice
    return Result(rule, "fail", broken.sent, broken.got, advice, exchanges, broken_by=broken.exchange)


def skipped(rule: Rule, why: str) -> Result:
    return Result(rule, "skipped", "", why, "")


def blocked(rule: Rule, by: Sequence[str]) -> Result:
    return Result(
        rule, "skipped", "", f"{' and '.join(by)} {'has' if len(by) == 1 else 'have'} to hold first", "", (), by
    )


@dataclass
class Report:
    """One examination: of what, with what, and what came of each rule."""

    url: str
    key: str
    simulator: str
    keys: Mapping[str, str]
    results: list[Result] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def certified(self) -> bool:
        return not self.found("fail")

    def found(self, verdict: Verdict) -> list[Result]:
        return [one for one in self.results if one.verdict == verdict]

    def head(self) -> str:
        """What is about to happen."""
        return "\n".join(
            (
                f"Certifying the webhook receiver at {self.url}",
                f"  key        {self.key}",
                f"  simulator  {self.simulator}",
                f"             The payments that events tell of are at {self.keys['base_url']},",
                f"             with the keys {self.keys['public_key']} and {self.keys['secret_key']}.",
            )
        )

    def readable(self) -> str:
        """Each rule that does not hold with all there is to say of it, and the verdict at the end."""
        lines: list[str] = []
        for one in self.found("fail"):
            rule = one.rule
            rows = [("sent", one.sent), *_request(one), ("came back", one.got), ("wanted", rule.wanted)]
            rows += [("by", rule.clause), ("read", read_by(rule.clause)), ("mend", one.advice)]
            lines += ["", f"{rule.name}: {rule.title}", *(_row(name, text) for name, text in rows)]
        return "\n".join([*lines, "", self._verdict(), ""])

    def _verdict(self) -> str:
        counts = Counter(one.verdict for one in self.results)
        tail = f"{counts['pass']} of {len(self.results)} rules hold"
        tail += f", {counts['fail']} do{'es' if counts['fail'] == 1 else ''} not" if counts["fail"] else ""
        tail += (
            f", {counts['skipped']} {'was' if counts['skipped'] == 1 else 'were'} skipped" if counts["skipped"] else ""
        )
        return f"{'Certified' if self.certified else 'Not certified'}: {tail} ({self.seconds:.1f} s)."

    def json(self) -> str:
        document = {
            "url": self.url,
            "verdict": "certified" if self.certified else "failed",
            "simulator": self.simulator,
            "seconds": round(self.seconds, 1),
            "rules": [one.document() for one in self.results],
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    def junit(self) -> str:
        """One test case for each rule."""
        suite = ElementTree.Element("testsuite", name="rampsim certify", time=f"{self.seconds:.1f}")
        suite.set("tests", str(len(self.results)))
        suite.set("failures", str(len(self.found("fail"))))
        suite.set("skipped", str(len(self.found("skipped"))))
        for one in self.results:
            case = ElementTree.SubElement(suite, "testcase", name=one.rule.name, classname="certify")
            if one.verdict == "skipped":
                ElementTree.SubElement(case, "skipped", message=one.got)
            if one.verdict == "fail":
                failure = ElementTree.SubElement(case, "failure", message=f"{one.rule.title}: no. Came back: {one.got}")
                failure.text = (
                    f"sent: {one.sent}\ncame back: {one.got}\nwanted: {one.rule.wanted}\nby: {one.rule.clause}\n"
                    f"mend: {one.advice}"
                )
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _request(result: Result) -> list[tuple[str, str]]:
    """The headers that matter and the beginning of the body of the request that broke a rule."""
    if result.broken_by is None:
        return []
    headers = [(name, value) for name, value in result.broken_by.headers if name.startswith("X-")]
    body = result.broken_by.body.decode(errors="replace")
    shown = body if len(body) <= _SHOWN_CHARACTERS else f"{body[:_SHOWN_CHARACTERS]} … ({len(body)} characters)"
    return [*(("", f"{name}: {value}") for name, value in headers), ("", shown)]


def _row(name: str, text: str) -> str:
    indent = " " * 13
    return fill(
        text,
        _WIDTH,
        initial_indent=f"  {name:10} ",
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _joined(words: Sequence[str]) -> str:
    return "; ".join(words)


def _shown(exchange: Exchange) -> JsonObject:
    body = exchange.body.decode(errors="replace")
    return {
        "sent": exchange.sent,
        "headers": dict(exchange.headers),
        "body": body if len(body) <= _SHOWN_BYTES else f"{body[:_SHOWN_BYTES]} …",
        "status": exchange.status,
        "error": exchange.error,
        "milliseconds": exchange.milliseconds,
        "answer": exchange.answer,
    }
