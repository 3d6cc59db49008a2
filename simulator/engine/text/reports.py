"""Reports of test results in the formats JSON, JUnit XML and GitHub annotations."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

# Integrators choose names and bodies that are included in reports. Most control characters are invalid in XML, and C1
# control characters would affect the terminal that displays a CI log.
_UNREADABLE = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Failure(NamedTuple):
    """The reason why a test case failed."""

    message: str
    text: str = ""
    kind: str = ""


class Case(NamedTuple):
    """One JUnit test case. It passed unless it has a failure or a reason why it was skipped."""

    classname: str
    name: str
    failure: Failure | None = None
    skipped: str = ""
    output: str = ""


class Suite(NamedTuple):
    """One JUnit test suite."""

    name: str
    cases: Sequence[Case]
    seconds: float | None = None
    output: str = ""


def readable(text: str) -> str:
    """Return a string in which U+FFFD replaces characters that are invalid in XML or that control terminals."""
    return _UNREADABLE.sub("\ufffd", text)


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun, such as "1 run" or "2 runs"."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def json_report(document: object) -> str:
    """Return a document as indented JSON that ends with a newline."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def junit(suites: Suite | Sequence[Suite]) -> str:
    """Return a JUnit report: one suite, or several suites inside `testsuites`."""
    if isinstance(suites, Suite):
        root = _element(suites)
    else:
        root = Element("testsuites")
        root.extend([_element(suite) for suite in suites])
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def _element(suite: Suite) -> Element:
    element = Element("testsuite", name=readable(suite.name), tests=str(len(suite.cases)))
    element.set("failures", str(sum(case.failure is not None for case in suite.cases)))
    element.set("errors", "0")
    element.set("skipped", str(sum(case.failure is None and bool(case.skipped) for case in suite.cases)))
    if suite.seconds is not None:
        element.set("time", f"{suite.seconds:.1f}")
    for case in suite.cases:
        child = SubElement(element, "testcase", classname=readable(case.classname), name=readable(case.name))
        if case.failure is not None:
            failure = SubElement(child, "failure", message=readable(case.failure.message))
            failure.text = readable(case.failure.text) or None
            if case.failure.kind:
                failure.set("type", case.failure.kind)
        elif case.skipped:
            SubElement(child, "skipped", message=readable(case.skipped))
        if case.output:
            SubElement(child, "system-out").text = readable(case.output)
    if suite.output:
        SubElement(element, "system-out").text = readable(suite.output)
    return element


def github_annotation(level: str, title: str, text: str) -> str:
    """Return a GitHub annotation with the level notice, warning or error. An annotation is a workflow command:
    https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
    """
    return f"::{level} title={_escaped(title).replace(':', '%3A').replace(',', '%2C')}::{_escaped(text)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
