"""Errors of control calls link to the documentation of the call."""

from __future__ import annotations

from tests.remote import Remote


def test_a_refused_control_call_links_to_its_description(server: Remote) -> None:
    refused = server.control("POST", "/faults", {"match": {"pth": "/x"}})
    assert refused.status == 400
    link = refused.body["error"]["doc_url"]
    assert link == "/_simulator/docs/reference/control#create_fault"
    page = server.http.get(f"{server.origin}{link}")
    assert page.status_code == 200
    assert 'id="create_fault"' in page.text


def test_a_refusal_of_the_interface_has_nothing_added(server: Remote) -> None:
    refused = server.http.get(f"{server.origin}/v1/profile")
    assert set(refused.json()["error"]) <= {"code", "message", "param", "request_id"}


def test_doc_url_includes_the_base_of_a_world(server: Remote) -> None:
    refused = server.http.get(f"{server.origin}/_worlds/default/_simulator/events?typ=x")
    link = refused.json()["error"]["doc_url"]
    assert link == "/_worlds/default/_simulator/docs/reference/control#events"
    assert server.http.get(f"{server.origin}{link}").status_code == 200
