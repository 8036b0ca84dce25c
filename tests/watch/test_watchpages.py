"""The view of a crawl, and what its server answers: JSON, events, metrics, health, refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from scrapy.settings import Settings

from semcrawl.frontier.backends import frontier_file
from semcrawl.items import FetchOutcome
from semcrawl.metadata.database import crawl_db_url, opened
from semcrawl.metadata.summary import summarise
from semcrawl.watch import CrawlView
from tests.watch.watched import HOSTILE, REASON, attempt, make_crawl, record, served, steered

EXAMPLES = Path(__file__).parents[2] / "examples" / "prometheus"


async def asked(url: str, **more: Any) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(url, **more) as answer:
        return answer.status, await answer.text()


async def test_a_view_shows_what_frontier_and_records_hold(tmp_path: Path) -> None:
    """Records that come later are added, and one that replaced another is counted once."""
    await make_crawl(tmp_path)
    view = CrawlView(Settings(), tmp_path)
    told = await view.look()
    assert (told["state"], told["error"], told["waiting"]) == ("ended", "", 2)
    assert told["labels"] == {"H": 1, "N": 1}
    hosts = {row[0]: dict(zip(told["host_columns"], row, strict=True)) for row in told["hosts"]}
    assert hosts["b.example"] | {"requests": 1, "targets": 1, "waiting": 2} == hosts["b.example"]
    assert hosts["a.example"]["errors"] == 1
    assert [each["url"] for each in told["problems"]] == [HOSTILE]
    record(tmp_path, attempt("http://b.example/y.ttl", FetchOutcome.FETCHED_RDF, quads=1))
    again = await view.look()
    assert again["totals"]["rdf_documents"] == 2
    with opened(crawl_db_url(tmp_path)) as engine:
        with engine.begin() as connection:
            connection.exec_driver_sql("DELETE FROM fetch WHERE url = 'http://b.example/y.ttl'")
        last = (await view.look())["totals"]
        summary = summarise(engine)
    await view.close()
    for name in ("requests", "targets", "quads", "embedded_quads", "bytes", "html_documents"):
        assert last[name] == getattr(summary, name), name


async def test_a_frontier_that_goes_away_leaves_the_last_figures_and_a_reason(
    tmp_path: Path,
) -> None:
    await make_crawl(tmp_path)
    view = CrawlView(Settings(), tmp_path)
    await view.look()
    await view.close()
    (moved := tmp_path / "away").mkdir()
    frontier_file(tmp_path).rename(frontier_file(moved))
    view._records = None
    view._frontier = None
    told = await view.look()
    assert told["waiting"] == 2
    assert "holds no frontier" in told["error"]
    frontier_file(moved).rename(frontier_file(tmp_path))
    assert not (await view.look())["error"]
    await view.close()


async def test_the_server_answers_with_the_view_and_refuses_other_hosts(tmp_path: Path) -> None:
    await make_crawl(tmp_path)
    async with served(tmp_path) as url:
        status, text = await asked(f"{url}view")
        assert (status, json.loads(text)["totals"]["requests"]) == (200, 3)
        assert await asked(f"{url}health") == (200, "0 workers run\n")
        assert await asked(f"{url}ready") == (503, "no worker runs\n")
        for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "["):
            assert (await asked(f"{url}view", headers={"Host": host}))[0] == 403
        assert (await asked(f"{url}view", headers={"Host": "10.1.2.3:9"}))[0] == 200
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            policy = answer.headers["Content-Security-Policy"]
        assert "script-src 'sha256-" in policy
        assert "unsafe" not in policy


@pytest.mark.slow
async def test_events_tell_all_hosts_first_and_then_those_that_changed(tmp_path: Path) -> None:
    await make_crawl(tmp_path)
    async with (
        served(tmp_path) as url,
        aiohttp.ClientSession() as session,
        session.get(f"{url}events") as answer,
    ):
        first, second = [await next_view(answer) for _ in range(2)]
    assert first["all_hosts"]
    assert len(first["hosts"]) == 2
    assert (second["all_hosts"], second["hosts"]) == (False, [])


async def next_view(answer: aiohttp.ClientResponse) -> dict[str, Any]:
    while True:
        line = (await answer.content.readline()).decode()
        if not line:
            raise EOFError
        if line.startswith("data: "):
            found: dict[str, Any] = json.loads(line.removeprefix("data: "))
            return found


async def test_metrics_are_read_by_the_parsers_of_prometheus(tmp_path: Path) -> None:
    """Both formats; labels are few, and no text of a site is among them."""
    pytest.importorskip("prometheus_client")
    from prometheus_client import parser
    from prometheus_client.openmetrics import parser as openmetrics

    await make_crawl(tmp_path)
    async with served(tmp_path) as url:
        plain = (await asked(f"{url}metrics"))[1]
        accept = {"Accept": "application/openmetrics-text; version=1.0.0"}
        opened = (await asked(f"{url}metrics", headers=accept))[1]
    for text, read in (
        (plain, parser.text_string_to_metric_families),
        (opened, openmetrics.text_string_to_metric_families),
    ):
        families = {family.name: family.samples for family in read(text)}
        assert families["semcrawl_requests"][0].value == 3
        waiting = {s.labels["label"]: s.value for s in families["semcrawl_waiting_links"]}
        assert waiting == {"R": 0, "HR": 0, "H": 1, "N": 1, "other": 0}
        assert sum(map(len, families.values())) < 80
        assert "example" not in text
    assert opened.endswith("# EOF\n")
    assert REASON not in opened


async def test_only_the_page_with_the_token_gives_orders(tmp_path: Path) -> None:
    """Neither another site's page (CSRF) nor a name that was rebound to this machine does."""
    await make_crawl(tmp_path)
    async with steered(tmp_path) as (url, token), aiohttp.ClientSession() as session:
        port = url.rstrip("/").rpartition(":")[2]
        good = {"X-Semcrawl-Token": token, "Content-Type": "application/json"}

        async def give(*words: object, **headers: str) -> int:
            more = {name.replace("_", "-"): value for name, value in headers.items()}
            async with session.post(
                f"{url}control", data=json.dumps(words), headers=good | more
            ) as answer:
                return answer.status

        for refused in (
            {"X_Semcrawl_Token": ""},
            {"X_Semcrawl_Token": "é" + token},
            {"Origin": "http://evil.example"},
            {"Origin": f"http://localhost:{port}"},  # another origin than that of the Host
            {"Origin": "null"},
            {"Sec_Fetch_Site": "cross-site"},
            {"Sec_Fetch_Site": "same-site"},
            {"Host": f"evil.example:{port}"},
        ):
            assert await give("pause", **refused) == 403, refused
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            assert await give("pause", Content_Type=kind) == 415
        for words in ((), ("explode",), (1,), ("pause", ["x"]), ("seed", "x"), ("block", "a/b")):
            assert await give(*words) == 400, words
        async with session.post(f"{url}control", data="{", headers=good) as answer:
            assert answer.status == 400
        async with session.post(f"{url}control", data='["p"]' + " " * 99_999, headers=good) as big:
            assert big.status == 413
        for method in ("get", "put", "options"):
            async with session.request(method, f"{url}control", headers=good) as answer:
                assert answer.status == 405
        assert json.loads((await asked(f"{url}view"))[1])["said"] == []
        assert await give("pause", "b.example", Origin=url.rstrip("/")) == 200
        view = json.loads((await asked(f"{url}view"))[1])
        assert view["orders"] == ["paused: b.example"]
        assert [each["by"] for each in view["said"]] == ["page"]


async def test_the_examples_ask_for_metrics_that_there_are(tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client")
    await make_crawl(tmp_path)
    async with served(tmp_path) as url:
        given = set(re.findall(r"^semcrawl_\w+", (await asked(f"{url}metrics"))[1], re.MULTILINE))
    for name in ("alerts.yml", "dashboard.json"):
        text = (EXAMPLES / name).read_text(encoding="utf-8")
        wanted = set(re.findall(r"\bsemcrawl_\w+", text)) - {"semcrawl_state"}
        assert wanted
        assert wanted <= given, wanted - given
