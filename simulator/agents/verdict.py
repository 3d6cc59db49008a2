"""The tool `verdict`: decides whether an integration is correct, with reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simulator.agents import inputs
from simulator.agents.inspecting import Message, messages, webhook_keys
from simulator.agents.session import Session
from simulator.engine.clients.address import inbox_path
from simulator.engine.clients.control import CallRefused, segment
from simulator.engine.records.advice import SEVERITIES
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class Check:
    """The result of one check. `problem` is empty if the check passed."""

    about: str
    problem: str = ""


def verdict(session: Session, given: inputs.VerdictInput) -> JsonObject:
    """Call this at the end to find out whether the integration is correct. It checks the outcomes that you name, the
    acknowledgement and signatures of webhooks, findings about the calls, and coverage. Returns ok, exit_code (0 yes,
    1 no, 4 unknown: no evidence), each problem with a fix, passed checks, and missing evidence.
    """
    checks = [*_outcomes(session, given), *_deliveries(session, given), *_inbox(session, given)]
    checks += [*_advice(session, given), *_coverage(session, given)]
    problems = [f"{check.about}: {check.problem}" for check in checks if check.problem]
    if problems:
        said, exit_code = f"no: {len(problems)} of {len(checks)} checks failed", 1
    elif not given.outcomes:
        said, exit_code = "unknown: add `outcomes`, because nothing else shows that the integration is correct", UNKNOWN
    else:
        said, exit_code = "yes: all checks passed", 0
    return {
        "ok": exit_code == 0,
        "exit_code": exit_code,
        "verdict": said,
        "problems": problems,
        "held": [check.about for check in checks if not check.problem],
        "missing": list(_missing(session, given)),
    }


UNKNOWN = 4
"""The exit code if there is neither a problem nor enough evidence."""


def _missing(session: Session, given: inputs.VerdictInput) -> Iterator[str]:
    """Yield a message for each thing that a verdict needs and that is missing: outcomes, API calls or webhooks."""
    control = session.control(given.world)
    if not given.outcomes:
        yield "outcomes: list the integration's objects and the status that each must have"
    if not control.get("/requests", limit=1)["data"]:
        yield "calls: the integration has made no calls in this world"
    if not control.get("/deliveries", limit=1)["data"]:
        inbox = f"{session.url}{inbox_path(given.world or session.world, 'NAME')}"
        yield f"webhooks: none was delivered. Register an endpoint, such as {inbox}"


def _outcomes(session: Session, given: inputs.VerdictInput) -> Iterator[Check]:
    for wanted in given.outcomes or ():
        about = f"{wanted.id} is {wanted.status}"
        try:
            state = session.control(given.world).get(f"/resources/{segment(wanted.id)}")["state"]
        except CallRefused as refusal:
            yield Check(about, str(refusal.error.get("message", refusal)))
            continue
        yield Check(about, "" if state == wanted.status else f"it is {state}; `inspect` it to see why")


def _deliveries(session: Session, given: inputs.VerdictInput) -> Iterator[Check]:
    """Check that the last delivery of each event succeeded."""
    rows = session.control(given.world).get("/deliveries")["data"]
    last = {(row["event_id"], row["endpoint_id"]): row for row in rows}
    failed = [row for row in last.values() if row["status"] == "failed"]
    problem = ""
    for row in failed[:1]:
        got = row["response_status"] or row["error"]
        problem = f"{len(failed)} failed, first {row['event_type']} ({row['event_id']}): {got}"
    if rows:
        yield Check(f"{len(last)} webhooks were acknowledged", problem)


def _inbox(session: Session, given: inputs.VerdictInput) -> Iterator[Check]:
    """Check that all messages in the inbox are genuine, and that they report the expected outcomes."""
    if given.inbox is None:
        return
    rows = session.control(given.world).get(f"/inbox/{segment(given.inbox)}")["data"]
    came = list(messages(rows, webhook_keys(session, given.world)))
    forged = [message for message in came if not message.genuine]
    about = f"{len(came)} webhooks in the inbox {given.inbox} verify"
    if not came:
        url = f"{session.url}{inbox_path(given.world or session.world, given.inbox)}"
        yield Check(about, f"the inbox is empty; register {url} with POST /webhooks first")
        return
    yield Check(about, f"{forged[0].type} ({forged[0].event_id}) fails: {forged[0].why_not}" if forged else "")
    for wanted in given.outcomes or ():
        yield Check(f"a verified webhook reports that {wanted.id} is {wanted.status}", _unreported(came, wanted))


def _unreported(came: Sequence[Message], wanted: inputs.Outcome) -> str:
    about = [message for message in came if message.object_id == wanted.id and message.genuine]
    if any(message.object_status == wanted.status for message in about):
        return ""
    types = ", ".join(message.type for message in about) or "none"
    return f"no such webhook; webhooks for this object: {types}"


def _advice(session: Session, given: inputs.VerdictInput) -> Iterator[Check]:
    if given.advice_from == "never":
        return
    least = SEVERITIES.index(given.advice_from)
    rows = [
        row for row in session.control(given.world).get("/advice")["data"] if SEVERITIES.index(row["severity"]) >= least
    ]
    if not rows:
        yield Check(f"no advice of severity {given.advice_from} or above")
    for row in rows:
        yield Check(f"advice {row['kind']}", f"{row['message']} {row['what_to_do']} ({', '.join(row['requests'][:3])})")


def _coverage(session: Session, given: inputs.VerdictInput) -> Iterator[Check]:
    if given.coverage is None:
        return
    percent = session.control(given.world).get("/coverage")["percent"]
    problem = "" if percent >= given.coverage else f"it is {percent} %"
    yield Check(f"{given.coverage:g} % of the contract covered", problem)
