from __future__ import annotations

import json
import os
import re
import sys

import forks
import pytest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.serve import WorldServer
from tests.evaluation.worlds import members
from tests.loopback import web

BROKEN = """
class Broken:
    name = "broken"
    @classmethod
    def from_settings(cls, settings):
        raise ValueError("cannot be made")
"""


INTERRUPTED = """
import signal
from semcrawl.relevance.orders import BreadthFirst
class Interrupted(BreadthFirst):
    name = "interrupted"
    def rank(self, page, links):
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which may be ignored here
        signal.raise_signal(signal.SIGINT)
"""


def semcrawl(*arguments, cwd, **environment):
    everything = {**os.environ, "COLUMNS": "120", **environment}
    return forks.run(
        [sys.executable, "-m", "semcrawl", *map(str, arguments)],
        cwd=cwd,
        env={name: value for name, value in everything.items() if value is not None},
        timeout=120,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("sites") / "mine"
    root.mkdir()
    (root / "index.html").write_text('<a href="a.html">A</a> <a href="b.html">B</a>')
    (root / "a.html").write_text('<a href="a.ttl" type="text/turtle">data</a>')
    (root / "b.html").write_text("<p>nothing</p>")
    (root / "a.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    return root


@pytest.mark.slow
def test_a_folder_is_evaluated_and_what_fails_is_told(folder):
    (folder.parent / "ours.py").write_text(BROKEN)
    (folder.parent / "empty").mkdir(exist_ok=True)
    (folder.parent / "harvested").mkdir()
    (folder.parent / "harvested" / "crawl.db").touch()
    done = semcrawl(
        "evaluate", folder, "empty", "nowhere", "harvested", "--strategies",
        "rules,omniscient,nope,ours.Broken", "--out", "out", cwd=folder.parent,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "unknown strategy 'nope'" in done.stderr
    assert "no such world: nowhere" in done.stderr
    assert "harvested is a harvest without its responses; `semcrawl harvest --record`" in (
        done.stderr
    )
    assert "empty: the start page http://localhost/empty/ is missing" in done.stderr
    assert "cannot be made" in done.stderr
    data = json.loads((folder.parent / "out" / "results.json").read_text())
    world = data["sets"][0]["worlds"][0]
    assert world["strategies"]["rules"]["found"]["mean"] == 1
    assert (folder.parent / "out" / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert "rules" in done.stdout


@pytest.mark.slow
def test_the_folder_of_a_site_list_is_its_sites(folder):
    site = {"host": "a.example", "root": folder.name, "base": "/"}
    (folder.parent / "sites.json").write_text(json.dumps({"sites": [site]}))
    done = semcrawl("evaluate", ".", "--strategies", "rules", "--out", "listed", cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    data = json.loads((folder.parent / "listed" / "results.json").read_text())
    assert data["sets"][0]["worlds"][0]["hosts"][0] == "a.example"


@pytest.mark.slow
@pytest.mark.parametrize(("world", "status"), [("nowhere", 2), ("empty", 1)])
def test_without_a_world_there_is_no_report(folder, world, status):
    (folder.parent / "empty").mkdir(exist_ok=True)
    done = semcrawl("evaluate", world, "--strategies", "rules", "--out", "none", cwd=folder.parent)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.count("\n") == 1
    assert not (folder.parent / "none" / "report.html").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give a world"),
        (["thesis", "--pages", "0"], "--pages must be at least 1"),
        (["thesis:nowhere"], "the thesis has no domain 'nowhere'"),
        (["thesis", "--strategies", "nope"], "no strategy is left to run"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, arguments, said):
    done = semcrawl("evaluate", *arguments, "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode != 0
    assert said in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_names_of_worlds_are_whole_where_the_table_is_piped(folder, tmp_path):
    names = [letter * 45 for letter in "ab"]
    for name in names:
        (tmp_path / name).symlink_to(folder)
    sites = [{"host": "a.example", "root": name} for name in names]
    (tmp_path / "sites.json").write_text(json.dumps({"sites": sites}))
    done = semcrawl("evaluate", "sites.json", "--strategies", "rules", cwd=tmp_path, COLUMNS=None)
    assert any(all(name in line for name in names) for line in done.stdout.splitlines())


@pytest.mark.slow
def test_explain_lists_links_with_their_rules(tmp_path):
    with WorldServer(members(3)) as server:
        done = semcrawl(
            "explain", "http://members.example/members/1", "--relevance", "rules-parents",
            cwd=tmp_path, http_proxy=server.address,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "ex1 ty1 ty2" in done.stdout
    assert "http://members.example/members/1.rdf" in done.stdout


@pytest.mark.slow
def test_explain_tells_the_rules_that_hold_whatever_the_strategy_goes_by(folder):
    done = semcrawl("explain", folder / "a.html", cwd=folder.parent)
    assert re.search(r"ex1 ty1 ty2 │ +│ http://localhost/a.ttl", done.stdout)
    assert "the file extension is one of RDF" in done.stdout


@pytest.mark.slow
def test_explain_spells_urls_as_a_crawl_with_the_same_settings(tmp_path):
    (tmp_path / "a.html").write_text('<a href="x?view=1&b=2">x</a>')
    setting = ("-s", "SEMCRAWL_URL_DROP_PARAMETERS=view")
    done = semcrawl("explain", "a.html", *setting, cwd=tmp_path)
    assert "/x?b=2" in done.stdout
    assert "view" not in done.stdout


@pytest.mark.slow
def test_explain_asks_under_the_name_that_a_crawl_asks_under(tmp_path):
    async def answer(request, out):
        agent = request.headers["user-agent"]
        await out.whole(200, [("Content-Type", "text/html")], f"<a href=x>{agent}</a>".encode())

    with serve(DemoWeb(), handlers={"a.example": answer}) as server:
        done = semcrawl(
            *("explain", "http://a.example/", "-s", "SEMCRAWL_CONTACT=me@a.example"),
            cwd=tmp_path, http_proxy=server.proxy_url,
        )  # fmt: skip
    assert "(+me@a.example)" in done.stdout, done.stderr


@pytest.mark.slow
def test_explain_reads_a_private_address_that_the_user_names(tmp_path):
    """As a crawl does with its seeds. Redirects are followed, but not to another one."""

    def answer(path, query):
        if path == "/away":
            return 302, "http://10.0.0.1/", b""
        if path == "/moved":
            return 302, "/", b""
        return 200, "text/html", b"<a href=x.ttl>data</a>"

    with web(answer) as base:
        done = semcrawl("explain", f"{base}/", cwd=tmp_path)
        moved = semcrawl("explain", f"{base}/moved", cwd=tmp_path)
        away = semcrawl("explain", f"{base}/away", cwd=tmp_path)
    assert f"{base}/x.ttl" in done.stdout, done.stderr
    assert f"{base}/x.ttl" in moved.stdout, moved.stderr
    assert "10.0.0.1 is a private address" in away.stderr


@pytest.mark.slow
def test_explain_says_why_a_page_cannot_be_had(tmp_path):
    with WorldServer(members(3)) as server:
        done = semcrawl(
            "explain", "http://members.example/gone", cwd=tmp_path, http_proxy=server.address
        )
    assert done.returncode == 1
    assert done.stderr.strip() == "semcrawl: http://members.example/gone answers status 404"


@pytest.mark.slow
def test_explain_reads_pages_and_rdf_and_refuses_what_is_neither(folder):
    done = semcrawl(
        "explain", folder / "a.html", "--base", "http://a.example/x/", cwd=folder.parent
    )
    assert "http://a.example/x/a.ttl" in done.stdout
    data = semcrawl("explain", folder / "a.ttl", cwd=folder.parent)
    assert data.returncode == 0, data.stderr
    (folder / "a.bin").write_bytes(bytes(range(256)))
    neither = semcrawl("explain", folder / "a.bin", cwd=folder.parent)
    assert neither.returncode == 2
    assert "is neither a page nor RDF" in neither.stderr


@pytest.mark.slow
def test_explain_says_what_a_topic_makes_of_a_page_and_of_its_links(tmp_path):
    page = tmp_path / "sorting.html"
    page.write_text(
        "<h1>Merge sort</h1><p>It is an algorithm.</p>"
        "<p><a href=/merge>merge sort explained</a></p><p><a href=/imprint>Imprint</a></p>"
    )
    done = semcrawl("explain", page, "--about", "keywords:merge sort", cwd=tmp_path, COLUMNS="200")
    assert "a target) to keywords:merge sort" in done.stdout, done.stderr
    assert "1 × in the heading" in done.stdout
    rows = [line for line in done.stdout.splitlines() if "│" in line]
    (merge,) = (row for row in rows if "/merge" in row)
    (imprint,) = (row for row in rows if "/imprint" in row)
    assert "1.00" in merge
    assert "100.0%" in merge
    assert "0.0%" in imprint


@pytest.mark.slow
def test_explain_refuses_a_state_for_a_strategy_that_keeps_none(folder):
    state = folder.parent / "state"
    state.write_bytes(b"learned elsewhere")
    run = semcrawl(
        "explain", folder / "a.html", "--relevance", "rules", "--state", state, cwd=folder.parent
    )
    assert run.returncode == 2
    assert "'rules' has no use for --state" in run.stderr


@pytest.mark.slow
def test_a_recorded_harvest_is_a_world(tmp_path):
    pytest.importorskip("warcio")
    world = members()
    with WorldServer(world) as server:
        done = semcrawl(
            "harvest", world.starts[0], "--fast", "--record", "--scope", "members.example",
            "--relevance", "breadth-first", "-s", "SEMCRAWL_WELL_KNOWN=", "--out", "job",
            cwd=tmp_path, http_proxy=server.address,
        )  # fmt: skip
        asked = {one.url for one in server.log if not one.robots}
    assert done.returncode == 0, done.stderr
    done = semcrawl(
        "evaluate", "job", "--strategies", "breadth-first,omniscient", "--out", "out",
        "-s", "SEMCRAWL_WELL_KNOWN=", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    data = json.loads((tmp_path / "out" / "results.json").read_text())["sets"][0]["worlds"][0]
    assert data["starts"] == list(world.starts)
    assert data["targets"] == 10
    assert data["strategies"]["breadth-first"]["requests"]["mean"] == len(asked)


@pytest.mark.slow
def test_live_and_offline_give_the_same_figures(tmp_path):
    arguments = ("evaluate", "thesis:deri", "--strategies", "rules-parents", "--pages", "60")
    figures = []
    for more in (("--repeat", "1"), ("--live",)):
        done = semcrawl(*arguments, *more, "--out", "out", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        data = json.loads((tmp_path / "out" / "results.json").read_text())
        [world] = data["sets"][0]["worlds"]
        figures.append(world["strategies"]["rules-parents"])
    offline, live = figures
    for name in ("found", "auc", "curve", "rules", "depths"):
        assert offline[name] == live[name], name


@pytest.mark.slow
def test_what_had_ended_before_an_interruption_is_reported(folder, tmp_path):
    (tmp_path / "strategies.py").write_text(INTERRUPTED)
    names = "rules,strategies.Interrupted,breadth-first"
    done = semcrawl("evaluate", folder, "--strategies", names, "--out", "out", cwd=tmp_path)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert "interrupted" in done.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    (world,) = results["sets"][0]["worlds"]
    assert list(world["strategies"]) == ["rules"]
    assert world["merged"]["success"] == 4
    assert "rules" in (tmp_path / "out" / "report.html").read_text()
