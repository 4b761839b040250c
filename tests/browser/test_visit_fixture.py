"""Tests of the problems of a page that the `visit` fixture reports."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

PAGE = "book/intro.html"  # not index.html, which leads on to it
ASK = "path => { fetch(path).catch(() => {}) }"


def test_a_request_given_up_by_leaving_is_no_problem(visit):
    opened = visit(PAGE)
    opened.page.route("**/never", lambda route: None)  # never answered
    with opened.page.expect_request("**/never"):
        opened.page.evaluate(ASK, "/never")
    with opened.page.expect_event("requestfailed"):
        opened.page.reload()
    assert opened.problems() == {}


@pytest.mark.parametrize("kind", ["connectionrefused", "connectionreset", "failed", "timedout"])
def test_a_request_that_fails_is_one(visit, kind):
    opened = visit(PAGE)
    opened.page.route("**/broken", lambda route: route.abort(kind))
    with opened.page.expect_event("requestfailed"):
        opened.page.evaluate(ASK, "/broken")
    assert [url.rpartition("/")[2] for url in opened.problems()["failed"]] == ["broken"]


def test_a_missing_file_is_one(visit):
    opened = visit(PAGE)
    with opened.page.expect_response("**/missing"):
        opened.page.evaluate(ASK, "/missing")
    assert opened.problems()["failed"][0].startswith("404 ")
