"""The report of a certification run: as text, as JSON, and as JUnit for CI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from textwrap import fill

from simulator.certification.exhaustive import report as exhaustive
from simulator.certification.exhaustive.running import FlowReport
from simulator.certification.rules import Rule
from simulator.certification.session import Broken, Exchange, Verdict
from simulator.engine.text.citations import links_of, read_by
from simulator.engine.text.json import JsonObject
from simulator.engine.text.reports import Case, Failure, Suite, json_report, junit
from simulator.kernel.dataclass import dataclass

_SHOWN_BYTES = 1000
_SHOWN_CHARACTERS = 160
_WIDTH = 120
_WORDS: Mapping[Verdict, str] = {"pass": "pass", "fail": "FAIL", "skipped": "skipped"}


@dataclass(frozen=True)
class Result:
    """The result of one rule."""

    rule: Rule
    verdict: Verdict
    sent: str
    got: str
    advice: str
    exchanges: Sequence[Exchange] = ()
    blocked_by: Sequence[str] = ()
    """The failed rules that this rule depends on."""
    broken_by: Exchange | None = None
    """The request that the receiver handled wrongly."""
    note: str = ""
    """The rules that were not checked."""

    @property
    def in_the_way(self) -> Sequence[str]:
        """The failed rules that block rules that depend on this one: this rule, or those that blocked it."""
        return (self.rule.name,) if self.verdict == "fail" else self.blocked_by

    @property
    def line(self) -> str:
        """The result as one line of progress output."""
        title = self.rule.title
        said = {"pass": f"{title}{self.note}", "fail": f"{title}: no, {self.got}", "skipped": self.got}[self.verdict]
        return f"{_WORDS[self.verdict]:7}  {self.rule.name:27}  {said}"

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The label and the text of each row that explains a failure."""
        rule = self.rule
        rows = [("sent", self.sent), *_request(self), ("came back", self.got), ("wanted", rule.wanted)]
        return [*rows, ("by", rule.clause), ("read", read_by(rule.clause)), ("fix", self.advice)]

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

    def case(self) -> Case:
        text = "\n".join(f"{name}: {text}" for name, text in self.rows if name not in ("", "read"))
        failure = Failure(f"{self.rule.title}: no. Response: {self.got}", text) if self.verdict == "fail" else None
        return Case("certify", self.rule.name, failure, skipped=self.got if self.verdict == "skipped" else "")


def passed(rule: Rule, exchanges: Sequence[Exchange], *, unread: str = "") -> Result:
    """Return the result for a rule that passes. `unread`: why the records were not compared, or "" if they were."""
    sent, got = ("; ".join(getattr(one, name) for one in exchanges) for name in ("sent", "got"))
    note = f" (judged by responses only: {unread})" if unread and rule.booked else ""
    return Result(rule, "pass", sent, f"{got}{note}", "", exchanges, note=note)


def failed(rule: Rule, broken: Broken, exchanges: Sequence[Exchange]) -> Result:
    advice = f"{broken.advice} {rule.advice}" if broken.advice else rule.advice
    return Result(rule, "fail", broken.sent, broken.got, advice, exchanges, broken_by=broken.exchange)


def skipped(rule: Rule, why: str = "", *, by: Sequence[str] = ()) -> Result:
    return Result(rule, "skipped", "", why or f"{' and '.join(by)} must hold first", "", blocked_by=by)


@dataclass
class Report:
    """One certification run."""

    url: str
    key: str
    simulator: str
    keys: Mapping[str, str]
    results: list[Result] = field(default_factory=list)
    seconds: float = 0.0
    flows: Sequence[FlowReport] | None = None
    """The results of an exhaustive run, or None if there was none."""
    has_job: bool = False
    """Whether a settle job ran."""

    @property
    def exit_code(self) -> int:
        """0 if all rules pass and every exhaustive search finished without findings. 4 if there are no failures and no
        findings, but a search stopped early. Otherwise 1.
        """
        return 1 if self.found("fail") else exhaustive.exit_code(self.flows or ())

    @property
    def certified(self) -> bool:
        return not self.exit_code

    def found(self, verdict: Verdict) -> list[Result]:
        return [one for one in self.results if one.verdict == verdict]

    def head(self) -> str:
        """Return the lines that are printed before the run."""
        return (
            f"Certifying the webhook receiver at {self.url}\n"
            f"  key        {self.key}\n"
            f"  simulator  {self.simulator}\n"
            f"             The payments in the events are at {self.keys['base_url']},\n"
            f"             with the keys {self.keys['public_key']} and {self.keys['secret_key']}."
        )

    def readable(self) -> str:
        """Return the details about each failed rule, then the verdict."""
        lines: list[str] = []
        for one in self.found("fail"):
            lines += ["", f"{one.rule.name}: {one.rule.title}", *(_row(name, text) for name, text in one.rows)]
        if self.flows is not None:
            lines.append(exhaustive.readable(self.flows, has_job=self.has_job))
        return "\n".join([*lines, *(["", self._verdict()] if self.results else []), ""])

    def _verdict(self) -> str:
        held, failing, skipped = (len(self.found(verdict)) for verdict in ("pass", "fail", "skipped"))
        tail = f"{held} of {len(self.results)} rules hold"
        tail += f", {failing} do{'es' if failing == 1 else ''} not" if failing else ""
        tail += f", {skipped} {'was' if skipped == 1 else 'were'} skipped" if skipped else ""
        return f"{'Certified' if self.certified else 'Not certified'}: {tail} ({self.seconds:.1f} s)."

    def json(self) -> str:
        return json_report(
            {
                "url": self.url,
                "verdict": "certified" if self.certified else "failed",
                "simulator": self.simulator,
                "seconds": round(self.seconds, 1),
                "rules": [one.document() for one in self.results],
                **({} if self.flows is None else {"exhaustive": [exhaustive.document(one) for one in self.flows]}),
            }
        )

    def junit(self) -> str:
        """Return a JUnit report with a test case for each rule and each flow."""
        cases = [*(one.case() for one in self.results), *exhaustive.cases(self.flows or (), has_job=self.has_job)]
        return junit(Suite("rampsim certify", cases, self.seconds))


def _request(result: Result) -> list[tuple[str, str]]:
    """Return rows about the request that the receiver handled wrongly, if any: its X- headers and part of its body."""
    if result.broken_by is None:
        return []
    headers = [(name, value) for name, value in result.broken_by.headers if name.startswith("X-")]
    body = result.broken_by.body.decode(errors="replace")
    shown = body if len(body) <= _SHOWN_CHARACTERS else f"{body[:_SHOWN_CHARACTERS]} … ({len(body)} characters)"
    return [*(("", f"{name}: {value}") for name, value in headers), ("", shown)]


def _row(name: str, text: str) -> str:
    return fill(
        text, _WIDTH, initial_indent=f"  {name:10} ", subsequent_indent=" " * 13, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


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
