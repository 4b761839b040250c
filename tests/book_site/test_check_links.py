"""Tests of the link checker, on a small site and a small local web."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from book.site.explorers import STATE
from tests.helpers.built_site import SITE, read_page
from tests.helpers.scripted_web_server import Reply, Web
from tools import check_site_links
from tools.polite_http import Visitor, table

pytestmark = pytest.mark.book


@pytest.fixture
def web(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    running = Web()
    yield running
    running.close()


@pytest.fixture
def visitor():
    return Visitor(timeout=0.5, tries=2, pause=0.01, between=0.0)


def site(folder: Path, **pages: str) -> check_site_links.Site:
    for name, body in pages.items():
        path = folder / f"{name.replace('__', '/')}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<html><body>\n{body}\n</body></html>", encoding="utf-8")
    return check_site_links.Site(folder)


# Inside


@pytest.mark.smoke
def test_the_built_site_has_no_broken_link():
    read_page("index.html")
    built = check_site_links.Site(SITE)
    assert len(built.pages) > 30
    assert sum(len(page.links) for page in built.pages.values()) > 1000
    assert built.inside() == []


def test_a_link_into_an_explorer_leads_to_one_of_that_name(tmp_path):
    states = f'<script type="{STATE}">{{"state": {{"x": {{"code":"cloze"}}}}}}</script>'
    links = (
        '<a href="two.html#live=cloze&amp;a=x+y">x</a> <a href="two.html#live=review&amp;s=x">y</a>'
    )
    (broken,) = site(tmp_path, one=links, two=states).inside()
    assert broken.link.startswith("two.html#live=review") and broken.why.endswith(
        "has no #live=review"
    )


@pytest.mark.parametrize(
    "link",
    [
        "b/two.html", "b/two.html#there", "#here", "#", "", "./b/two.html", "b/", "b",
        "data:image/png;base64,xx", "mailto:a@example.org", "b/two.html#:~:text=some%20words",
        "b/%C3%A9t%C3%A9.txt", "b/two.html?x=1#there", "https://example.org/nowhere",
    ],
)  # fmt: skip
def test_what_leads_somewhere(tmp_path, link):
    made = site(tmp_path, one=f'<a href="{link}" id="here">x</a>', b__two='<p id="there">y</p>')
    (tmp_path / "b" / "index.html").write_text("z", encoding="utf-8")
    (tmp_path / "b" / "été.txt").write_text("z", encoding="utf-8")
    assert made.inside() == []


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('<a href="b/three.html">x</a>', "there is no b/three.html"),
        ('<a href="b/two.html#gone">x</a>', "b/two.html has no #gone"),
        ('<a href="#gone">x</a>', "one.html has no #gone"),
        ('<a href="/b/two.html">x</a>', "is relative to the root of the host"),
        ('<a href="../x.html">x</a>', "points outside the site"),
        ('<img src="b/gone.png">', "there is no b/gone.png"),
        ('<script src="gone.js"></script>', "there is no gone.js"),
        ('<link rel="stylesheet" href="gone.css">', "there is no gone.css"),
        ('<svg><a xlink:href="gone.html"></a></svg>', "there is no gone.html"),
    ],
)
def test_what_leads_nowhere(tmp_path, body, why):
    made = site(tmp_path, one=f"<p>\n{body}", b__two='<p id="there">y</p>')
    [broken] = made.inside()
    assert (broken.page, broken.line, broken.why) == ("one.html", 3, why)


def test_the_table_names_the_page_and_the_exit_status_tells(tmp_path, capsys):
    assert check_site_links.main([str(tmp_path)]) == 2
    site(tmp_path, one='<a href="gone.html">x</a>')
    assert check_site_links.main([str(tmp_path)]) == 1
    assert "| one.html:2 | gone.html | there is no gone.html |" in capsys.readouterr().out
    site(tmp_path, one='<a href="one.html">x</a>')
    assert check_site_links.main([str(tmp_path)]) == 0
    assert "0 broken" in capsys.readouterr().out


# Outside


def test_each_address_is_known_once_with_its_pages(tmp_path):
    body = '<a href="https://example.org/a#1">x</a><a href="https://example.org/a#2">y</a>'
    assert site(tmp_path, one=body, two=body).outside() == {
        "https://example.org/a": ["one.html", "two.html"]
    }


@pytest.mark.parametrize(
    ("reply", "verdict", "says"),
    [
        (Reply(), "ok", "status 200"),
        (Reply(head=405), "ok", "status 206"),
        (Reply(head=404), "ok", "status 206"),
        (Reply(fails=1), "ok", "status 200"),
        (Reply(status=404), "broken", "status 404"),
        (Reply(status=410), "broken", "status 410"),
        (Reply(status=403), "refused", "status 403"),
        (Reply(status=429), "refused", "status 429"),
        (Reply(status=500), "broken", "status 500"),
        (Reply(delay=1.0), "broken", "no answer within 0.5 s"),
        (Reply(status=302, location="/there"), "ok", "status 200"),
        (Reply(status=301, location="/there"), "ok", "status 200"),
        (Reply(status=301, location="/gone"), "broken", "status 404"),
        (Reply(status=301, location="/page"), "broken", "redirects in a loop"),
    ],
)
def test_what_an_address_answers(web, visitor, reply, verdict, says):
    web.replies = {"/page": reply, "/there": Reply()}
    answer = visitor.look(f"{web.address}/page")
    assert (answer.verdict, answer.says.startswith(says)) == (verdict, True), answer


def test_a_host_that_moved_for_good_is_told_and_is_not_broken(web, visitor):
    web.replies = {
        "/old": Reply(status=301, location=f"http://localhost:{web.port}/new"),
        "/for-now": Reply(status=302, location=f"http://localhost:{web.port}/new"),
        "/new": Reply(),
    }
    answer = visitor.look(f"{web.address}/old")
    assert (answer.verdict, answer.says) == ("moved", f"moved to http://localhost:{web.port}/new")
    assert visitor.look(f"{web.address}/for-now").verdict == "ok"


def test_nobody_there(visitor):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    answer = visitor.look(f"http://127.0.0.1:{port}/")
    assert (answer.verdict, "could not be reached" in answer.says) == ("broken", True)


def test_head_is_enough_where_it_is_answered(web, visitor):
    web.replies = {"/page": Reply()}
    visitor.look(f"{web.address}/page")
    assert web.asked == ["HEAD /page"]


def test_a_host_is_given_time_between_two_requests(web, monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr("tools.polite_http.time.sleep", slept.append)
    web.replies = {"/page": Reply()}
    polite = Visitor(between=5.0)
    polite.look(f"{web.address}/page")
    polite.look(f"{web.address}/page")
    assert 4.0 < max(slept) <= 5.0


@pytest.mark.parametrize(("status", "returned"), [(200, 0), (403, 0), (404, 1)])
def test_only_what_is_broken_fails(tmp_path, web, monkeypatch, capsys, status, returned):
    monkeypatch.setattr(check_site_links, "Visitor", lambda: Visitor(0.5, 1, 0.0, 0.0))
    web.replies = {"/page": Reply(status=status)}
    site(tmp_path, one=f'<a href="{web.address}/page#part">x</a>')
    assert check_site_links.main([str(tmp_path), "--external"]) == returned
    told = f"{web.address}/page | status {status}" in (said := capsys.readouterr().out)
    assert told == (status != 200)
    assert (status == 200) or "one.html |" in said


def test_a_table_is_not_broken_by_what_it_holds():
    assert table(("a",), [("x|y\nz",)]) == "| a |\n| --- |\n| x\\|y z |"
