"""Reading scenario files: every mistake is found, located and explained."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from simulator.engine.scenario.files.loader import ScenarioError
from tests.unit.engine.scenario.playing import LOADER

RULE = "name: x\nrules:\n  - on: order.processing\n    do:\n      - "


def problems(text: str | bytes, **options: Any) -> list[tuple[int, int, str, str]]:
    with pytest.raises(ScenarioError) as caught:
        LOADER.load(text, **options)
    return [(one["line"], one["column"], one["path"], one["message"]) for one in caught.value.errors]


def messages(text: str) -> list[str]:
    return [f"{path}: {message}" for _, _, path, message in problems(text)]


WHOLE = """
name: all
description: everything
world:
  rates: [{asset: INK, currency: COIN, rate: "129.40"}]
  balances: [{symbol: INK, network: SOUTH, amount: "250", environment: open}]
rules:
  - on: order.awaiting_parcel
    where: {type: buyback, source_amount: {gt: 1, lte: "50"}, currency: [COIN, NOTE]}
    times: 1
    probability: 0.5
    do:
      - {after: {between: [20s, 1m]}, action: parcel_arrives}
      - {after: PT2M, action: fail, failure_code: delivery_failed}
      - {scenario: all}
  - on: request
    where: {method: POST, path: "/offers/*/confirm"}
    answer: {status: 422, code: payment_failed}
timeline:
  - {at: 10m, action: set_network, network: north, status: down}
faults:
  - {match: {method: POST, path: /offers}, times: 2, respond: {status: 503, code: service_unavailable}}
  - {webhook: {event: order.failed}, deliver: {copies: 2}}
drive:
  - offer: {post: /offers, body: {amount: "5"}}
  - {get: "/offers/${offer.id}", retry: false}
  - {action: set_network, network: north, status: "${offer.status}"}
  - shelf: {action: set_network, network: north, status: down}
  - receiver: {respond: [500, 200]}
  - {get: "/webhooks/${receiver.id}", status: 404, code: not_found}
  - {post: /auth/token, body: {public_key: "${world.credentials.practice.public_key}"}}
  - advance: 1h
expect:
  - event: order.failed
    where: {failure_code: delivery_failed}
  - resource: "${offer.id}"
    where: {status: refunded}
  - answer: offer
    where: {status: active}
  - delivery: order.failed
    where: {attempt: 2}
    times: 1
  - webhooks: delivered
slowdown: {degraded: 5}
with: [autopilot]
retry: false
"""
"""A scenario file with everything that a file may have."""


def test_a_whole_file_is_read() -> None:
    file = LOADER.load(WHOLE, "all.yaml", ["autopilot"])
    assert file.name == "all"
    assert file.place("rules[1]") == "all.yaml:16"
    assert file.scenario.rules[0].do is not None
    assert (file.scenario.rules[0].do[0].after.low_ms, file.scenario.rules[0].do[0].after.high_ms) == (20_000, 60_000)
    assert file.scenario.rules[0].do[1].model_extra == {"failure_code": "delivery_failed"}
    assert file.scenario.drive[1].path == "/offers/${offer.id}"  # type: ignore[union-attr]  # this step is a call
    assert file.document["retry"] is False


def test_json_is_read_with_tabs_and_surrogates() -> None:
    text = json.dumps({"name": "j", "description": "\U0001f600 \\ /"}, indent="\t")
    assert LOADER.load(text).scenario.description == "\U0001f600 \\ /"


def test_six_mistakes_are_six_located_problems() -> None:
    assert problems(
        """name: six
rules:
  - on: order.awaiting_parce
    where: {type: {ends_wth: x}, a: {matches: "(["}}
    do:
      - {after: 20x, action: complete}
      - {action: delivery_fail}
      - {action: fail, failure_cod: delivery_failed}
"""
    ) == [
        (
            3,
            9,
            "rules[0].on",
            "unknown event `order.awaiting_parce`; did you mean `order.awaiting_parcel`?",
        ),
        (4, 20, "rules[0].where.type.ends_wth", "unknown field `ends_wth`; did you mean `ends_with`?"),
        (4, 47, "rules[0].where.a.matches", "not a regular expression: missing ]: ["),
        (
            6,
            17,
            "rules[0].do[0].after",
            "'20x' is not a duration; write it with units, such as 20s, 2h30m or PT90S, or as a JSON number of seconds",
        ),
        (7, 18, "rules[0].do[1].action", "unknown action `delivery_fail`; did you mean `fail`?"),
        (
            8,
            24,
            "rules[0].do[2].failure_cod",
            "unknown parameter `failure_cod` of fail; did you mean `failure_code`?",
        ),
    ]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("{actoin: fail}", "rules[0].do[0].actoin: unknown field `actoin`; did you mean `action`?"),
        ("{after: 1s}", "rules[0].do[0]: a step needs `action` or `scenario`"),
        (
            "{action: fail, scenario: x}",
            "rules[0].do[0].scenario: a step must have either `action` or `scenario`, not both",
        ),
        ("{scenario: y}", "rules[0].do[0].scenario: unknown scenario `y`"),
        ('{scenario: "${nam}"}', "rules[0].do[0].scenario: `${nam}` is not a named group of the rule"),
        ("{scenario: x, amount: 1}", "rules[0].do[0].amount: unknown field `amount`"),
        ("{afer: 1s, action: fail}", "rules[0].do[0].afer: unknown parameter `afer` of fail; did you mean `after`?"),
        ("{action: Complete}", "rules[0].do[0].action: unknown action `Complete`; did you mean `complete`?"),
        (
            "{action: fail, failure_code: nope}",
            "rules[0].do[0].failure_code: `failure_code`: it must be 'delivery_failed', 'network_unavailable' or "
            "'internal_error'",
        ),
        (
            "{action: payment_arrives, amount: 5}",
            "rules[0].do[0].amount: `amount` must be a string; write it in quotes: '5'",
        ),
        ("{action: set_network, network: north}", "rules[0].do[0].status: the parameter `status` is missing"),
        (
            "{action: set_network, network: north, statsu: down}",
            "rules[0].do[0].statsu: unknown parameter `statsu` of set_network; did you mean `status`?",
        ),
        ("{action: 5}", "rules[0].do[0].action: it must be a string; write it in quotes: '5'"),
        ("{after: {between: [2s, 1s]}, action: fail}", None),
        ("{after: {between: 2s}, action: fail}", None),
        ("{after: -5, action: fail}", None),
        ("{after: true, action: fail}", None),
        ("{environment: moon, action: fail}", None),
        ("3", None),
    ],
)
def test_one_mistake_in_a_step_is_one_problem(step: str, message: str | None) -> None:
    found = messages(RULE + step)
    assert len(found) == 1
    assert message in (None, found[0])


@pytest.mark.parametrize(
    "text",
    [
        "name: x\ndescripton: y",
        "nam: x",
        "name: x y",
        "name: active",
        "name: 5",
        "name: x\nname: y",
        "name: x\nrules: {}",
        "name: x\nrules: [{on: order.failed}]",
        "name: x\nrules: [{onn: order.failed, do: []}]",
        "name: x\nrules: [{on: order.failed, doo: []}]",
        "name: x\nrules: [{on: 5, do: []}]",
        "name: x\nrules: [{on: [], do: []}]",
        "name: x\nrules: [{on: [created, creatd], do: []}]",
        "name: x\nrules: [{on: request, do: [], answer: {code: payment_failed}}]",
        "name: x\nrules: [{on: created, answer: {code: payment_failed}}]",
        "name: x\nrules: [{on: request, do: [{action: complete}]}]",
        "name: x\nrules: [{on: request, answer: {code: payment_faild}}]",
        "name: x\nrules: [{on: request, answer: {code: payment_failed, status: 200}}]",
        "name: x\nrules: [{on: created, times: 0, do: []}]",
        "name: x\nrules: [{on: created, where: {a: {}}, do: []}]",
        "name: x\nrules: [{on: created, where: {a: [[1]]}, do: []}]",
        "name: x\nrules: [{on: created, where: {a: {gt: high}}, do: []}]",
        "name: x\nrules: [{on: shelf.created, do: [{action: parcel_arrives, asset: INK}]}]",
        "name: x\ntimeline: [{at: 1s, action: complete}]",
        "name: x\ntimeline: [{att: 1s, action: set_network, network: north, status: down}]",
        "name: x\ntimeline: [{at: 1s, acton: set_network, network: north, status: down}]",
        "name: x\ntimeline: [{at: 1s, action: set_network, network: north, status: down, scenario: x}]",
        "name: x\nfaults: [{respond: {status: 503, code: a}}]",
        "name: x\nfaults: [{match: {}, webhook: {}, drop: true, deliver: {}}]",
        "name: x\nfaults: [{match: {}}]",
        "name: x\nfaults: [{match: {}, delay: 1s, after_commit: true}]",
        "name: x\nfaults: [{match: {}, repond: {status: 503, code: a}}]",
        "name: x\nfaults: [{webhook: {}}]",
        "name: x\nfaults: [{webhook: {event: nope}, deliver: {drop: true}}]",
        "name: x\nworld: {balances: [{symbol: INK, network: SOUTH, amount: 250}]}",
        "name: x\nworld: {networks: [{network: north, status: down, environment: moon}]}",
        "name: x\nworld: {balancs: []}",
        "name: x\ndrive: [{offer: {pst: /offers}}]",
        "name: x\ndrive: [{offer: 5}]",
        "name: x\ndrive: [{post: /a, get: /b}]",
        'name: x\ndrive: [{post: "/offers/${offer.id}"}]',
        "name: x\ndrive: [{advance: 10 minutes}]",
        "name: x\ndrive: [{action: complete}]",
        "name: x\ndrive: [{shelf: {action: complete}}]",
        "name: x\ndrive: [{shelf: {action: set_netwrk, network: north, status: down}}]",
        "name: x\ndrive: [{post: /offers, status: 422, code: amount_to_low}]",
        "name: x\ndrive: [{receiver: {respond: []}}]",
        "name: x\ndrive: [{receiver: {respond: [100]}}]",
        "name: x\ndrive: [{receiver: {respnd: [200], respond: [200]}}]",
        'name: x\ndrive: [{get: "/webhooks/${receiver.id}"}]',
        "name: x\nexpect: [{answer: offer, where: {}}]",
        "name: x\nexpect: [{delivery: order.faild}]",
        "name: x\nexpect: [{evnt: order.failed}]",
        "name: x\nexpect: [{event: order.faild}]",
        'name: x\nexpect: [{resource: "${offer.id}", where: {}}]',
        "name: x\nexpect: [{webhooks: received}]",
        "name: x\nslowdown: {degraded: fast}",
        "name: x\nslowdown: {degradd: 5}",
        "name: x\nwith: [nobody]",
        "- name: x",
        "",
        "5",
        "name: [x",
        "name: x\n---\nname: y",
        "name: x\x07",
        "name: *nobody",
        "? [a]\n: b\nname: x",
        b"name: \xff",
    ],
)
def test_one_mistake_is_one_problem(text: str | bytes) -> None:
    assert len(problems(text)) == 1


def test_syntax_errors_are_located() -> None:
    assert problems("name: x\nrules: [\n  a: b: c\n")[0][:2] == (3, 7)
    assert problems("name: x\nb\x07")[0][:2] == (2, 2)
    assert problems(b"name: x\n  \xff")[0][:2] == (2, 3)


def test_an_alias_that_contains_itself_is_refused() -> None:
    assert problems("name: x\nworld: &a {rates: [*a]}")[0][3] == "the file is nested more than 64 levels deep"


def test_a_text_is_bounded_before_it_is_read() -> None:
    assert problems("#" * (256 * 1024 + 1)) == [(1, 1, "", "the file is larger than 256 KB")]
    assert problems("name: é" + "é" * (128 * 1024))[0][3] == "the file is larger than 256 KB"


def test_a_file_on_disk_may_be_larger_than_an_upload(tmp_path: Path) -> None:
    (tmp_path / "large.yaml").write_text("name: large\n" + "#" * (256 * 1024))
    assert LOADER.load_file(tmp_path / "large.yaml").name == "large"


@pytest.mark.parametrize("text", ["[" * 2_000, "{" * 200_000, "- " * 100_000, '{"a":' * 40_000])
def test_depth_is_bounded_while_a_text_is_read(text: str) -> None:
    began = time.process_time()
    assert len(problems(text)) == 1
    assert time.process_time() - began < 1


def test_values_of_an_alias_count_at_each_use() -> None:
    nine = ", ".join(["{}"] * 9)
    levels = ["[&a0 [x]"] + [f"&a{level} [{nine.format(*[f'*a{level - 1}'] * 9)}]" for level in range(1, 9)]
    assert problems(f"name: x\nrules: {', '.join(levels)}]")[0][3] == "the file has more than 20,000 values"
    assert problems("name: x\nrules: [" + "x, " * 20_001 + "]")[0][3] == "the file has more than 20,000 values"


def test_only_the_first_hundred_problems_are_listed() -> None:
    found = problems("name: x\n" + "".join(f"descriptio{number}: 1\n" for number in range(5_000)))
    assert len(found) == 101
    assert found[0] == (2, 1, "descriptio0", "unknown field `descriptio0`; did you mean `description`?")
    assert found[-1] == (102, 1, "", "and 4,900 more problems")


def test_long_names_are_shortened_in_messages() -> None:
    ((_, _, path, message),) = problems("name: x\n? " + "k" * 100_000 + "\n: 1")
    assert (len(path), len(message)) == (101, 117)


@pytest.mark.parametrize(
    "number", ["123456789012345678901234567890", "-9223372036854775809", "0x1ffffffffffffffff", "1e999"]
)
def test_number_beyond_64_bits_is_refused(number: str) -> None:
    assert problems(f"name: x\ndrive:\n  - {{post: /a, body: {{n: {number}}}}}") == [
        (
            3,
            26,
            "drive[0].body.n",
            "the number has more than 64 bits; write it in quotes to use it as a string",
        )
    ]


def test_unquoted_placeholder_gets_a_hint() -> None:
    assert problems("name: x\ndrive:\n  - {get: /offers/${offer.id}}")[0][3].endswith(
        'write a string with ${…} in quotes inside { } and [ ], as in "/offers/${offer.id}"'
    )
    assert problems("name: x\nexpect:\n  - {resource: ${offer.id}, where: {status: x}}")[0][3].endswith(
        'write a string with ${…} in quotes inside { } and [ ], as in "${offer.id}"'
    )


def test_unknown_tag_is_refused() -> None:
    assert problems("name: x\ndescription: !include other.yaml")[0][3] == "unknown tag '!include'"


def test_yaml_1_1_words_are_strings() -> None:
    file = LOADER.load(
        "name: x\ndrive: [{post: /a, body: {on: yes, at: 12:30, day: 2026-01-05, n: 0x1F, f: 1.5, e: ~, s: !!str 5}}]"
    )
    assert file.document["drive"][0]["body"] == {
        "on": "yes",
        "at": "12:30",
        "day": "2026-01-05",
        "n": 31,
        "f": 1.5,
        "e": None,
        "s": "5",
    }


def test_anchor_can_be_redefined() -> None:
    assert LOADER.load("name: &a x\ndescription: &a y").scenario.description == "y"


def test_invalid_name_is_explained() -> None:
    assert problems("name: x y")[0][3].startswith("a name can contain letters, digits")


def test_values_with_placeholders_are_not_checked() -> None:
    rule = "{on: created, where: {a: {matches: '(?P<network>.+)'}}, do: [{action: set_network, network: '${network}', "
    assert LOADER.load(f"name: x\nrules: [{rule}status: down}}]}}]")


def test_error_text_looks_like_compiler_output() -> None:
    with pytest.raises(ScenarioError) as caught:
        LOADER.load("name: x\ndescripton: y", "my.yaml")
    assert str(caught.value) == (
        "1 problem\nmy.yaml:2:1: descripton: unknown field `descripton`; did you mean `description`?"
    )


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("a{99999999999}", "a repetition count must be at most 1000"),
        ("a{2,1001}", "a repetition count must be at most 1000"),
        ("((a{99}){99}){99}", "invalid repetition size: {99}"),
        (
            "a(?=b)",
            "lookaround, possessive repetition and backreferences are not supported",
        ),
        (
            "(a)\\\\1",
            "lookaround, possessive repetition and backreferences are not supported",
        ),
        ("a**", "bad repetition operator: **"),
        ("(?P<n-1>a)", "invalid named capture group: (?P<n-1>"),
    ],
)
def test_invalid_pattern_is_refused_with_the_reason(pattern: str, why: str) -> None:
    rule = f'{{on: created, where: {{a: {{matches: "{pattern}"}}}}, do: []}}'
    ((_, _, path, message),) = problems(f"name: x\nrules: [{rule}]")
    assert (path, message) == ("rules[0].where.a.matches", f"not a regular expression: {why}")


RULE_ON = "name: x\nrules:\n  - {on: order.completed, "


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            RULE_ON + "where: {typ: purchase}, do: []}",
            "rules[0].where.typ: unknown field `typ` of order.completed; did you mean `type`?",
        ),
        (
            "name: x\nexpect: [{event: order.completed, where: {statu: completed}}]",
            "expect[0].where.statu: unknown field `statu` of order.completed; did you mean `status`?",
        ),
        (
            RULE_ON + "do: [{action: parcel_confirms}]}",
            "rules[0].do[0].action: the action parcel_confirms cannot be performed on purchase, buyback, "
            "gift, trade, preorder, dispatch; it is for parcel",
        ),
        (
            RULE_ON + "do: [{at: 1s, action: refund}]}",
            "rules[0].do[0].at: unknown parameter `at` of refund; did you mean `after`?",
        ),
        (
            "name: x\nfaults: [{match: {path: /v1/offers}, drop: true}]",
            "faults[0].match.path: no operation below the base path /v1 matches '/v1/offers'; did you mean /offers?",
        ),
        (
            "name: x\nfaults: [{match: {path: /offrs/*}, drop: true}]",
            "faults[0].match.path: no operation below the base path /v1 matches '/offrs/*'; did you mean /offers/*?",
        ),
        (
            "name: x\nfaults: [{match: {path: '/offers/{id}'}, drop: true}]",
            "faults[0].match.path: '/offers/{id}' is not a glob; use /offers/*",
        ),
        (
            "name: x\nfaults: [{match: {method: FETCH}, drop: true}]",
            "faults[0].match.method: FETCH is not possible; use DELETE, GET, HEAD, PATCH, POST, PUT",
        ),
        (
            "name: x\nfaults: [{match: {method: DELETE, path: /offers}, drop: true}]",
            "faults[0].match.method: DELETE is not possible at /offers; use POST",
        ),
        (
            "name: x\nfaults: [{match: {}, delay: 11m}]",
            "faults[0].delay: it is wall-clock time and must be at most 10m",
        ),
        (
            "name: x\nfaults: [{match: {}, delay: 0s}]",
            "faults[0]: a fault needs at least one of respond, delay, answer_delay, latency, act, drop, malformed, "
            "key_forgotten, unknown_enum, extra_field, missing_field",
        ),
        (
            "name: x\nfaults: [{webhook: {}, deliver: {slow: 61s}}]",
            "faults[0].deliver.slow: it is wall-clock time and must be at most 1m",
        ),
        ("name: x\nfaults: [{webhook: {}, deliver: {drop: false}}]", None),
        (
            "name: x\nfaults: [{match: {}, drop: true, deliver: {drop: true}}]",
            "faults[0].deliver: `deliver` cannot be used with `match`",
        ),
        (
            "name: x\nfaults: [{webhook: {}, copies: 2, deliver: {drop: true}}]",
            "faults[0].copies: `copies` belongs inside `deliver`",
        ),
        ("name: x\nfaults: [{webhook: {}, deliver: {}}]", None),
        (
            "name: x\ndrive: [{post: /v1/offers}]",
            "drive[0].post: write the path below the base; did you mean `/offers`?",
        ),
        (
            "name: x\nrules: [{on: request, where: {path: /open/v1/offers}, answer: {code: payment_failed}}]",
            "rules[0].where.path: write the path below the base; did you mean `/offers`?",
        ),
    ],
)
def test_part_that_cannot_match_is_a_problem(text: str, problem: str | None) -> None:
    found = messages(text)
    assert len(found) == 1
    assert problem in (None, found[0])


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (RULE_ON + "where: {type: purchse}, do: []}", "`type` is never `purchse`; did you mean `purchase`?"),
        (RULE_ON + "where: {status: [done, completed]}, do: []}", "`status` is never `done`"),
        ("name: x\ndrive: [{get: /offer}]", "no operation has the path `/offer`; did you mean `/offers`?"),
        ("name: x\ndrive: [{patch: /offers}]", "PATCH is not possible here (possible: POST)"),
    ],
)
def test_part_that_probably_cannot_match_is_a_warning(text: str, warning: str) -> None:
    (found,) = LOADER.load(text).warnings
    assert found["message"].startswith(warning)
    assert (found["line"], found["column"]) > (1, 1)


def test_part_that_can_match_is_not_a_warning() -> None:
    text = """
name: x
rules:
  - {on: [order.completed, parcel.failed], where: {asset: x, request.reference: x, offer.type: purchase}, do: []}
  - {on: request, where: {path: "/offers/*/confirm"}, answer: {code: payment_failed}}
faults:
  - {match: {path: "/orders/order-*"}, drop: true}
  - {match: {path: "*"}, drop: true}
drive:
  - {get: /v1/nowhere, status: 404}
  - offer: {post: /offers, status: 400}
  - {post: "/offers/${offer.id}/confirm", status: 404}
  - {get: /_simulator/clock}
"""
    assert LOADER.load(text).warnings == ()
