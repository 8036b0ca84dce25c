"""Answers that lead on in other ways than by a page's links."""

from __future__ import annotations

from pathlib import Path

import pytest
from harvest.runs import Run, asked, harvest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream
from spiders.site import HTML, page, triples

pytestmark = pytest.mark.slow

D = "http://d.example"
E = "http://e.example"
NT = "application/n-triples"
#: status, headers, body
Answer = tuple[int, list[tuple[str, str]], bytes]


def document(
    name: str, *headers: tuple[str, str], media_type: str = NT, status: int = 200
) -> Answer:
    return status, [("Content-Type", media_type), *headers], triples(name, 2)


#: the bytes of ``é`` in UTF-8, as a header has them
E_ACUTE = "é".encode().decode("latin-1")
SITE: dict[str, Answer] = {
    "/": (
        200,
        [("Content-Type", HTML)],
        page(
            *("/moved", "/later", "/table.csv", "/photo", "/described.nt", "/none.nt"),
            *(
                "/saved",
                "/unnamed",
                "/pages/2",
                "/asp/",
                "/list",
                "/empty",
                "/away",
                "/away.nt",
                "/latin",
                "\\slashes\\found.nt",
                "/files/index.html",
                "/names.nt",
                "/to",
                "/unpacked.nt",
                "/latin.nt",
                "/multiple",
                "/choose",
                "/part.nt",
                "/all.nt",
                "/middle.nt",
                "/half",
            ),
            head='<link rel="prefetch" href="/pages/2">',
        )[1],
    ),
    "/moved": (303, [("Location", f"/caf{E_ACUTE}.nt")], b""),
    "/caf%C3%A9.nt": document("moved"),
    "/later": (200, [("Content-Type", HTML), ("Refresh", "0; url=/arrived.nt")], b"<p>Wait."),
    "/arrived.nt": document("arrived"),
    # bytes that are not UTF-8 go back as they came
    "/latin.nt": (302, [("Location", "/d\xe9j\xe0.nt")], b""),
    "/d%E9j%E0.nt": document("latin", ("Link", '</titl\xe9.nt>; rel="describedby"; title="\xe9"')),
    "/titl%E9.nt": document("titled"),
    "/multiple": (300, [("Location", "/first.nt")], b"<a href=/unasked.nt>x</a>"),
    "/first.nt": document("first"),
    "/choose": (300, [("Content-Type", HTML)], page("/choice.nt")[1]),
    "/choice.nt": document("choice"),
    # parts that nobody asked for
    "/part.nt": document("part", ("Content-Range", "bytes 0-99/5000"), status=206),
    "/all.nt": document("all", ("Content-Range", "bytes 0-9999/10000"), status=206),
    "/middle.nt": document("middle", ("Content-Range", "bytes 50-99/100"), status=206),
    "/half": (206, [("Content-Type", HTML)], page("/halved.nt")[1]),
    "/halved.nt": document("halved"),
    "/away": (302, [("Location", "http://off.example/page")], b""),
    "/away.nt": (302, [("Location", "http://off.example/it.nt")], b""),
    "/it.nt": document("it"),
    "/empty": (200, [("Content-Type", HTML), ("Refresh", "0; url=/o'clock.nt")], b""),
    "/o'clock.nt": document("clock"),
    "/latin": (
        200,
        [("Content-Type", "text/html; charset=iso-8859-1")],
        b"<a href='/s?q=\xe9'>data</a>",
    ),
    "/s?q=%E9": document("latin"),
    "/slashes/found.nt": document("slashes"),
    "/table.csv": (
        200,
        [("Content-Type", "text/csv"), ("Link", f'<t{E_ACUTE}.json>; rel="describedby"')],
        b"a,b\n",
    ),
    "/t%C3%A9.json": (
        200,
        [("Content-Type", "application/json")],
        b'{"@id": "http://d.example/table.csv", "http://v.example/label": "a table"}',
    ),
    "/photo": (
        200,
        [
            ("Content-Type", "application/octet-stream"),
            ("Link", f'<photo.nt>; type="{NT}", <other>; rel="next"'),
        ],
        b"\0\1\2" * 100,
    ),
    "/photo.nt": document("photo"),
    "/described.nt": document(
        "described",
        ("Link", f'<again.nt>; rel="alternate"; type="{NT}", <about.nt>; rel="describedby"'),
    ),
    "/about.nt": document("about"),
    "/again.nt": document("again"),
    "/other": document("other"),
    "/none.nt": (204, [("Content-Type", NT)], b""),
    "/saved": document("saved", media_type="application/force-download"),
    "/unnamed": document("unnamed", media_type="application/x-ntriples"),
    "/pages/2": (200, [("Content-Type", HTML)], page("/second.nt")[1]),
    "/second.nt": document("second"),
    "/asp/": (302, [("Location", "/asp/default.aspx")], b""),
    "/asp/default.aspx": (200, [("Content-Type", HTML)], page("served.nt")[1]),
    "/asp/served.nt": document("served"),
    "/files/index.html": (200, [("Content-Type", HTML)], page("in.nt")[1]),
    "/files/in.nt": document("in"),
    "/names.nt": (
        200,
        [("Content-Type", NT)],
        f"<{D}/> <http://v.example/page> <{D}/named/index.html> .\n".encode(),
    ),
    "/named/index.html": (
        200,
        [("Content-Type", HTML), ("Link", '<../linked/index.html>; rel="next"')],
        page("in.nt")[1],
    ),
    "/named/in.nt": document("named"),
    "/linked/index.html": (200, [("Content-Type", HTML)], page("in.nt")[1]),
    "/linked/in.nt": document("linked"),
    "/to": (301, [("Location", "/store/index.htm")], b""),
    "/store/index.htm": (200, [("Content-Type", HTML)], page("in.nt", "./")[1]),
    "/store/in.nt": document("stored"),
    "/unpacked.nt": document("unpacked", ("Content-Encoding", "gzip")),
    "/list": (302, [("Location", "/list?tag=")], b""),
    "/list?tag=": (200, [("Content-Type", HTML)], page("/listed.nt")[1]),
    "/listed.nt": document("listed"),
}


async def answer(request: Request, out: Stream) -> None:
    status, headers, body = SITE.get(request.path, (404, [], b""))
    await out.whole(status, headers, body)


async def file_store(request: Request, out: Stream) -> None:
    """Answer as a store of files does, which has no folders."""
    files = {"/index.html": page("/deep/index.html"), "/deep/index.html": page("/seen.nt")}
    found = files.get(request.path)
    if request.path == "/seen.nt":
        found = NT, triples("seen", 2)
    media_type, body = found or ("application/xml", b"<Error><Code>AccessDenied</Code></Error>")
    await out.whole(200 if found else 403, [("Content-Type", media_type)], body)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("odd") / "out"
    with serve(
        DemoWeb(), handlers={"d.example": answer, "e.example": file_store, "off.example": answer}
    ) as server:
        seeds = (f"{D}/", f"{E}/index.html")
        return harvest(*seeds, "--fast", folder=folder, proxy=server.proxy_url)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/caf%C3%A9.nt", id="by an address of raw UTF-8 in Location"),
        pytest.param("/d%E9j%E0.nt", id="by an address of raw Latin-1 in Location"),
        pytest.param("/titl%E9.nt", id="by such an address in a Link header"),
        pytest.param("/first.nt", id="by the Location of multiple choices"),
        pytest.param("/choice.nt", id="on a page of multiple choices"),
        pytest.param("/halved.nt", id="on a part of a page"),
        pytest.param("/arrived.nt", id="by a Refresh header"),
        pytest.param("/o'clock.nt", id="by a Refresh header without a page"),
        pytest.param("/slashes/found.nt", id="by an address with backslashes"),
        pytest.param("/s?q=%E9", id="by a query in its page's encoding"),
        pytest.param("/t%C3%A9.json", id="described by what a table's headers name"),
        pytest.param("/photo.nt", id="another form of something else"),
        pytest.param("/about.nt", id="described by what a document's headers name"),
        pytest.param("/saved", id="served to be saved"),
        pytest.param("/unnamed", id="served by an old name of its type"),
        pytest.param("/asp/served.nt", id="in a folder that redirects to its index"),
        pytest.param("/listed.nt", id="on a page that redirects to itself with an empty query"),
        pytest.param("/files/in.nt", id="on the index of a folder that has no address"),
        pytest.param("/named/in.nt", id="on such an index that a document names"),
        pytest.param("/linked/in.nt", id="on such an index that a header names"),
        pytest.param("/store/in.nt", id="on such an index that a redirect leads to"),
        pytest.param("/unpacked.nt", id="said to be packed, which it is not"),
        pytest.param("/second.nt", id="on a page that is prefetched, too"),
    ],
)
def test_a_document_is_found(path: str, run: Run) -> None:
    assert D + path in run.documents()


def test_a_redirect_off_the_site_is_followed_for_what_looks_like_data_only(run: Run) -> None:
    outcomes = run.outcomes()
    assert outcomes[f"{D}/away"] == ["out-of-scope"]
    assert "http://off.example/page" not in outcomes
    assert outcomes[f"{D}/away.nt"] == ["redirected"]
    assert outcomes["http://off.example/it.nt"] == ["fetched-rdf"]


@pytest.mark.parametrize("path", ["/again.nt", "/other"])
def test_what_says_nothing_new_is_not_asked_for(path: str, run: Run) -> None:
    """Other forms of a document that was fetched, and other relations of what is no page."""
    assert D + path not in run.outcomes()


@pytest.mark.parametrize(
    ("path", "outcome", "error"),
    [
        ("/part.nt", "fetched-rdf", "status 206: bytes 0 to 99 of 5,000 only"),
        ("/all.nt", "fetched-rdf", ""),
        ("/middle.nt", "http-error", "status 206: bytes 50 to 99 of 100 only"),
        ("/half", "fetched-html", "status 206 without a range: perhaps not the whole document"),
    ],
)
def test_a_part_that_was_not_asked_for_is_called_so(
    path: str, outcome: str, error: str, run: Run
) -> None:
    [record] = [one for one in run.records if one["url"] == D + path]
    assert record["outcome"] == outcome
    assert error in record["errors"]
    assert bool(record["errors"]) == bool(error)


def test_no_content_is_no_document(run: Run) -> None:
    assert run.outcomes()[f"{D}/none.nt"] == ["fetched-other"]


def test_a_seed_that_names_an_index_is_asked_for_by_that_name_in_the_end(run: Run) -> None:
    """A site may lie in a store of files, which knows no folders."""
    assert f"{E}/seen.nt" in run.documents()
    outcomes = run.outcomes()
    assert outcomes[f"{E}/"] == ["http-error"]
    assert outcomes[f"{E}/index.html"] == outcomes[f"{E}/deep/index.html"] == ["fetched-html"]


@pytest.mark.parametrize(
    ("setting", "why"),
    [("REDIRECT_ENABLED=0", "REDIRECT_ENABLED is off"), ("REDIRECT_MAX_TIMES=0", "too many")],
)
def test_a_redirect_that_the_settings_forbid_is_an_error_and_not_followed(
    setting: str, why: str, tmp_path: Path
) -> None:
    log = tmp_path / "requests.jsonl"
    with serve(DemoWeb(), handlers={"d.example": answer}, log=log) as server:
        settings = ("--fast", "-s", setting)
        run = harvest(f"{D}/moved", *settings, folder=tmp_path / "out", proxy=server.proxy_url)
    assert run.outcomes()[f"{D}/moved"] == ["http-error"]
    [record] = [record for record in run.records if record["url"] == f"{D}/moved"]
    assert record["status"] == 303
    assert record["errors"].startswith(why)
    assert set(asked(log)) == {"d.example/robots.txt", "d.example/moved"}
