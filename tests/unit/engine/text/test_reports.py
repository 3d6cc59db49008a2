"""Reports that all tools write."""

from xml.etree import ElementTree

from simulator.engine.text.reports import Case, Failure, Suite, counted, github_annotation, json_report, junit

CASES = (
    Case("book", "one"),
    Case("book", "two", Failure("lost\x1b", "lost twice", "error"), skipped="no reason"),
    Case("book", "three", skipped="not reached", output="said"),
)


def test_a_suite_counts_its_cases() -> None:
    text = junit(Suite("library", CASES, 1.25, "all said"))
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>\n<testsuite name="library" tests="3" failures="1" ')
    suite = ElementTree.fromstring(text)
    assert {**suite.attrib, "name": ""} == {
        "name": "", "tests": "3", "failures": "1", "errors": "0", "skipped": "1", "time": "1.2",
    }  # fmt: skip
    assert [[child.tag for child in case] for case in suite] == [[], ["failure"], ["skipped", "system-out"], []]
    assert suite.findtext("system-out") == "all said"


def test_a_failure_has_a_message_a_kind_and_a_text() -> None:
    (failure,) = ElementTree.fromstring(junit(Suite("library", CASES))).findall("testcase/failure")
    assert failure.attrib == {"message": "lost\N{REPLACEMENT CHARACTER}", "type": "error"}
    assert failure.text == "lost twice"


def test_several_suites_are_wrapped() -> None:
    root = ElementTree.fromstring(junit([Suite("a", ()), Suite("b", CASES)]))
    assert (root.tag, [suite.get("tests") for suite in root]) == ("testsuites", ["0", "3"])


def test_an_annotation_is_one_line() -> None:
    assert github_annotation("error", "a: b, c", "50 %\nmore") == "::error title=a%3A b%2C c::50 %25%0Amore"


def test_counts_and_json_read_well() -> None:
    assert [counted(1, "run"), counted(2, "run"), counted(0, "guess", "guesses")] == ["1 run", "2 runs", "0 guesses"]
    assert json_report({"name": "Zoë"}) == '{\n  "name": "Zoë"\n}\n'
