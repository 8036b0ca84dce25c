"""Malformed heads of answers."""

from __future__ import annotations

import pytest
from harvest.runs import Run, harvest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream
from spiders.site import page, triples

pytestmark = pytest.mark.slow

SITE = "http://heads.example"
BODY = triples("it", 2)
NT = "Content-Type: application/n-triples"
LENGTH = f"Content-Length: {len(BODY)}"

#: whose robots.txt cannot be fetched
ASIDE = "http://long.example/"

#: the lines before a body of two statements
HEADS: dict[str, list[str]] = {
    "long": ["HTTP/1.1 200 OK", NT, LENGTH, f"Link: {'</a>; rel=next, ' * 5000}"],
    "type": ["HTTP/1.1 200 OK", f"{NT}; note={'x' * 100_000}", LENGTH],
    "tag": ["HTTP/1.1 200 OK", NT, LENGTH, f'ETag: "{"e" * 100_000}"'],
    "too-long": ["HTTP/1.1 200 OK", NT, LENGTH, f"X-Long: {'x' * 1_000_000}"],
    "too-many": ["HTTP/1.1 200 OK", *(f"X-{n}: {n}" for n in range(50_000)), NT, LENGTH],
    "interim": [*(["HTTP/1.1 103 Early Hints", ""] * 50_000), "HTTP/1.1 200 OK", NT, LENGTH],
    "huge-status": [f"HTTP/1.1 {'9' * 30} Odd", NT, LENGTH],
    "negative-status": ["HTTP/1.1 -200 Odd", NT, LENGTH],
}


async def answer(request: Request, out: Stream) -> None:
    name = request.path[1:]
    if request.path == "/":
        content_type, body = page(*(f"/{name}" for name in HEADS))
        await out.whole(200, [("Content-Type", content_type)], body)
    elif name in HEADS:
        out.closing = True
        await out.body("\r\n".join([*HEADS[name], "", ""]).encode() + BODY)
    else:
        await out.whole(404, [], b"")


async def no_rules(request: Request, out: Stream) -> None:
    """Answer for robots.txt with too many headers."""
    out.closing = True
    await out.body("\r\n".join([*HEADS["too-many"], "", ""]).encode())


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("heads") / "out"
    handlers = {"heads.example": answer, "long.example": no_rules}
    with serve(DemoWeb(), handlers=handlers) as server:
        options = ("--fast", "-s", "RETRY_TIMES=0", "-s", "SEMCRAWL_HOST_FAILURES=3")
        return harvest(f"{SITE}/", ASIDE, *options, folder=folder, proxy=server.proxy_url)


@pytest.mark.parametrize(
    ("name", "outcome", "reason"),
    [
        ("long", "fetched-rdf", ""),
        ("type", "fetched-rdf", ""),
        ("tag", "fetched-rdf", ""),
        ("too-long", "too-large", "headers of more than 262144 bytes"),
        ("too-many", "too-large", "headers of more than 262144 bytes"),
        ("interim", "too-large", "headers of more than 262144 bytes"),
        ("huge-status", "network-error", "DownloadFailedError: no answer in HTTP"),
        ("negative-status", "network-error", "DownloadFailedError: no answer in HTTP"),
    ],
)
def test_each_has_its_outcome_and_reason(name: str, outcome: str, reason: str, run: Run) -> None:
    # (a link may be asked for once more where its host came under suspicion)
    assert set(run.outcomes()[f"{SITE}/{name}"]) == {outcome}
    records = [record for record in run.records if record["url"] == f"{SITE}/{name}"]
    assert all(record["errors"].startswith(reason) for record in records)


def test_records_keep_what_has_a_use(run: Run) -> None:
    records = {record["url"]: record for record in run.records}
    assert len(records[f"{SITE}/type"]["content_type"]) == 1000
    assert records[f"{SITE}/tag"]["etag"] == ""


def test_such_a_crawl_is_calm(run: Run) -> None:
    run.is_calm()
    assert run.status == 0


def test_what_became_of_a_robots_txt_is_told(run: Run) -> None:
    outcomes = run.outcomes()
    assert outcomes[f"{ASIDE}robots.txt"] == ["too-large"]
    assert outcomes[ASIDE] == ["too-large"]
