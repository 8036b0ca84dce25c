"""Wrong input is told in one clear line, with exit status 2, and nothing is left half-made."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from harvest.runs import harvest, semcrawl, start


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "out"


#: kinds of input that are told apart by the same code as a sample that runs always
slow = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize(
    "url",
    [
        "gopher://demo.example/",
        *(
            pytest.param(url, marks=slow)
            for url in ("www.demo.example/", "http://", "", "file:///etc/passwd", "http://[")
        ),
    ],
)
def test_an_address_that_no_crawler_can_ask_for(url: str, folder: Path) -> None:
    run = harvest(url, folder=folder)
    run.says_in_one_line(repr(url))
    assert not folder.exists()


@slow
def test_no_address_at_all(folder: Path) -> None:
    harvest(folder=folder).says_in_one_line("URL")


@pytest.mark.slow
def test_a_wrong_setting_is_named(folder: Path) -> None:
    run = harvest("http://x.example/", "-s", "SEMCRAWL_MAX_LINKS_PER_PAGE=many", folder=folder)
    run.says_in_one_line("SEMCRAWL_MAX_LINKS_PER_PAGE", "many")


@slow
@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ("SEMCRAWL_CRAWL_NAME=a}b", "braces"),
        ("SEMCRAWL_SKOLEM_BASE=no iri", "not an IRI"),
        ("SEMCRAWL_PROGRESS=much", "lines"),
        ("SEMCRAWL_REVISIT_POLICY=often", "uniform"),
        ("SEMCRAWL_STORE_URL=store", "http"),
        ("SEMCRAWL_STORE_AUTH=none", "digest"),
        ("SEMCRAWL_METADATA_URL=here", "no database URL"),
        ("SEMCRAWL_MAX_LINKS_PER_PAGE=0", "SEMCRAWL_MAX_LINKS_PER_PAGE must be 1 or more, not 0"),
        ("SEMCRAWL_MAX_NESTING=9", "no setting SEMCRAWL_MAX_NESTING: it is a constant"),
        ("SEMCRAWL_URL_HOST_NAMES=192.0.2.7", "must be a mapping, or JSON of one"),
        ('SEMCRAWL_URL_HOST_NAMES={"192.0.2.7": "a b"}', "'a b' is not a host"),
        ("SEMCRAWL_MAX_CRAWL_DELAY=nan", "SEMCRAWL_MAX_CRAWL_DELAY must be a number"),
    ],
)
def test_a_setting_that_cannot_be_is_told_in_one_line(
    setting: str, word: str, folder: Path
) -> None:
    harvest("http://x.example/", "-s", setting, folder=folder).says_in_one_line(word)


SELECT = "twisted.internet.selectreactor.SelectReactor"


@slow
@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (f"TWISTED_REACTOR={SELECT}", ("need asyncio's reactor", f"TWISTED_REACTOR is '{SELECT}'")),
        ("ASYNCIO_EVENT_LOOP=uvlop.Loop", ("must name an event loop class", "not 'uvlop.Loop'")),
        ("ASYNCIO_EVENT_LOOP=json.dumps", ("must name an event loop class", "not 'json.dumps'")),
        ("TWISTED_REACTOR_ENABLED=0", ("need a reactor", "leave TWISTED_REACTOR_ENABLED on")),
    ],
)
def test_another_reactor_is_refused_before_anything_is_made(
    setting: str, words: tuple[str, ...], folder: Path
) -> None:
    harvest("http://x.example/", "-s", setting, folder=folder).says_in_one_line(*words)
    assert not folder.exists()
    crawl = ("crawl", "html", "-a", "seeds=http://x.example/", "-s", setting)
    semcrawl(*crawl, folder=folder).says_in_one_line(*words)


@slow
def test_a_database_that_cannot_be_opened_is_told_in_one_line(folder: Path) -> None:
    url = f"SEMCRAWL_METADATA_URL=sqlite:///{folder}/missing/crawl.db"
    run = harvest("http://x.example/", "-s", url, folder=folder)
    assert run.status == 1
    assert run.err.startswith("semcrawl: cannot open the database")
    assert run.err.count("\n") == 1


@slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--relevance", "wishful"), ("wishful", "rules-parents")),
        (("--pages", "-3"), ("--pages", "at least 1")),
        (("--pages", "many"), ("--pages must be a whole number, not 'many'",)),
        (("--pages",), ("--pages", "expected one argument")),
        (("--metadata", "csv"), ("--metadata", "csv", "parquet")),
        (("--patience", "-3"), ("--patience",)),
        (("--model", "missing.model"), ("missing.model",)),
        (("--relevance", "rules", "--model", "some.model"), ("'rules' starts from no model",)),
        (("--scope", ""), ("scope",)),
        (("--scope", "sites"), ("sites", "did you mean site?")),
        (("--pagse", "3"), ("--pagse", "did you mean --pages?")),
        (("--loglevel", "LOUD"), ("LOUD", "WARNING")),
        (("--logfile", "missing/log"), ("missing/log",)),
        (("--pidfile", "missing/pid"), ("missing/pid",)),
    ],
)
def test_a_wrong_option_is_named(
    arguments: tuple[str, ...], words: tuple[str, ...], folder: Path
) -> None:
    harvest("http://x.example/", *arguments, folder=folder).says_in_one_line(*words)
    assert not folder.exists()


@slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("harvest", "http://x.example/", "--out", "{folder}"),
        ("crawl", "html", "-a", "seeds=http://x.example/", "-s", "SEMCRAWL_JOBDIR={folder}"),
        ("load", "{folder}", "--store", "embedded"),
    ],
)
def test_a_harvest_that_lost_its_database_is_left_as_it_is(
    arguments: tuple[str, ...], folder: Path
) -> None:
    folder.mkdir()
    (folder / "quads.nq").write_text("<urn:a> <urn:b> <urn:c> .\n")
    run = semcrawl(*(each.format(folder=folder) for each in arguments), folder=folder)
    run.says_in_one_line("quads.nq", "crawl.db")
    assert (folder / "quads.nq").read_text() == "<urn:a> <urn:b> <urn:c> .\n"
    assert not (folder / "crawl.db").exists()


@slow
def test_a_job_folder_is_no_seed(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "frontier.db").touch()
    run = semcrawl("harvest", str(folder), folder=folder)
    run.says_in_one_line(f"--out {folder}", "--revisit")


@slow
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    run = harvest("http://x.example/", folder=tmp_path / "file" / "out")
    run.says_in_one_line(str(tmp_path / "file"))


@pytest.mark.slow
def test_a_folder_that_is_a_file(folder: Path) -> None:
    folder.write_text("in the way")
    harvest("http://x.example/", folder=folder).says_in_one_line(str(folder))
    assert folder.read_text() == "in the way"


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("harvest", "http://x.example/", "--out", "{folder}"), marks=slow),
        pytest.param(
            ("crawl", "html", "-a", "seeds=http://x.example/", "-s", "SEMCRAWL_JOBDIR={folder}"),
            marks=slow,
        ),
        pytest.param(("load", "{folder}", "--store", "embedded"), marks=slow),
    ],
)
def test_a_file_of_the_job_that_cannot_be_written(arguments: tuple[str, ...], folder: Path) -> None:
    (folder / "crawl.db").mkdir(parents=True)
    (folder / "quads.nq").touch()
    run = semcrawl(*(argument.format(folder=folder) for argument in arguments), folder=folder)
    run.says_in_one_line(f"cannot write to {folder / 'crawl.db'}: Is a directory")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("harvets",), ("harvets", "did you mean harvest?")),
        (("crawl", "html", "-a", "sedes=http://x.example/"), ("sedes", "did you mean seeds?")),
        (("frontier", "--rate", "often"), ("--rate must be a number, not 'often'",)),
        *(
            pytest.param(arguments, words, marks=slow)
            for arguments, words in (
                (("crawl",), ("html, rdf",)),
                (("crawl", "html", "--workers", "2"), ("semcrawl harvest", "REDIS_URL")),
                (("crawl", "html", "-s", "SEMCRAWL_WORKERS=2"), ("semcrawl harvest",)),
                (("find", "foaf:name", "a", "b"), ("one job folder", "semcrawl merge")),
                (("profile", "a", "b"), ("one job folder", "semcrawl merge")),
                (("query", "a", "b", "ASK {}"), ("one job folder", "semcrawl merge")),
                (("crawl", "htlm"), ("htlm", "html, rdf")),
                (("crawl", "html", "-a", "follow_rdf=perhaps"), ("follow_rdf", "perhaps")),
                (("demo", "--pages", "3"), ("--pages", "need --harvest")),
                (("demo", "--prot", "3"), ("--prot", "did you mean --port?")),
                (("version", "--vebrose"), ("--vebrose", "did you mean --verbose?")),
                (("version", "all"), ("all",)),
                (("--hepl",), ("--hepl", "no command")),
                (("describe", "."), ("crawl.db",)),
                (("load", "."), ("quads.nq",)),
                (("frontier", "."), ("frontier",)),
                (("frontier", "--tpo", "3"), ("--tpo", "did you mean --top?")),
                (("explain", "missing.html"), ("missing.html",)),
                (("evaluate",), ("world",)),
                (("harvest", "--revisit", "."), ("no harvest",)),
            )
        ),
    ],
)
def test_commands_and_their_arguments(
    arguments: tuple[str, ...], words: tuple[str, ...], folder: Path
) -> None:
    semcrawl(*arguments, folder=folder).says_in_one_line(*words)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("-s", "SEMCRAWL_JOBDIR={folder}"), "cannot write to {folder}"),
        *(
            pytest.param(("-s", setting), word, marks=slow)
            for setting, word in (
                ("SEMCRAWL_METADATA_URL=here", "no database URL"),
                ("SEMCRAWL_STORE_URL=store", "http"),
                ("SEMCRAWL_EMBEDDED=json", "SEMCRAWL_EMBEDDED"),
                ("SEMCRAWL_RDF_LINKS=no iri", "SEMCRAWL_RDF_LINKS"),
            )
        ),
        pytest.param(("-o", "{folder}/data.nq"), "cannot write {folder}/data.nq", marks=slow),
    ],
)
def test_a_crawl_that_cannot_be_written_or_read_is_refused(
    arguments: tuple[str, ...], word: str, folder: Path
) -> None:
    folder.write_text("in the way")
    options = [argument.format(folder=folder) for argument in arguments]
    run = semcrawl("crawl", "html", "-a", "seeds=http://x.example/", *options, folder=folder)
    run.says_in_one_line(word.format(folder=folder))


@slow
def test_a_crawl_without_seeds_says_what_it_waits_for(folder: Path) -> None:
    options = (f"SEMCRAWL_JOBDIR={folder}", "MAX_IDLE_TIME_BEFORE_CLOSE=0.1")
    settings = [word for option in options for word in ("-s", option)]
    run = semcrawl("crawl", "html", *settings, folder=folder)
    assert run.status == 0
    assert run.err.count("Waiting for seeds on the list html:start_urls of") == 1


@slow
def test_a_refused_job_says_in_its_log_why(folder: Path) -> None:
    log = folder.with_name("job.log")
    semcrawl("crawl", "html", "-a", "sedes=x", "-s", f"LOG_FILE={log}", folder=folder)
    (line,) = log.read_text().splitlines()
    assert line.endswith("did you mean seeds?")


@slow
def test_a_crawl_without_its_database_is_refused(folder: Path) -> None:
    url = f"SEMCRAWL_METADATA_URL=sqlite:///{folder}/missing/crawl.db"
    job = f"SEMCRAWL_JOBDIR={folder}"
    arguments = ("crawl", "html", "-a", "seeds=http://x.example/", "-s", job, "-s", url)
    run = semcrawl(*arguments, folder=folder)
    assert run.status == 1
    assert run.err.startswith("semcrawl: cannot open the database")
    assert run.err.count("\n") == 1


@slow
def test_a_port_that_is_taken(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        semcrawl("demo", "--port", port, folder=folder).says_in_one_line(port)


@slow
def test_the_overview_and_the_version_are_shown(folder: Path) -> None:
    overview, version = semcrawl(folder=folder), semcrawl("--version", folder=folder)
    assert (overview.status, version.status) == (0, 0)
    assert {"harvest", "frontier", "shell,"} <= set(overview.out.split())
    assert version.out.startswith("semcrawl ")
    assert semcrawl("version", folder=folder).out.startswith("semcrawl ")


@slow
def test_a_folder_where_nothing_was_begun(folder: Path) -> None:
    empty = folder.with_suffix(".jsonl")
    empty.write_text('{"kind": "frontier", "format": 2}\n{"kind": "end", "lines": 1}\n')
    assert semcrawl("frontier", str(folder), "--import", str(empty), folder=folder).status == 0
    run = harvest(folder=folder)
    assert run.status == 1
    assert run.err.splitlines() == [
        f"semcrawl: {folder} holds no link to go on with; give a URL to start from"
    ]


def closed_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.slow
def test_a_redis_server_that_is_not_there(folder: Path) -> None:
    url = f"redis://127.0.0.1:{closed_port()}/0"
    run = harvest("http://x.example/", folder=folder, REDIS_URL=url)
    run.is_calm()
    assert run.status != 0
    assert url in run.err
    assert len(run.err.strip().splitlines()) == 1


@slow
def test_an_address_of_redis_that_is_none(folder: Path) -> None:
    run = harvest("http://x.example/", folder=folder, REDIS_URL="http://elsewhere/")
    run.says_in_one_line("http://elsewhere/")


@slow
@pytest.mark.parametrize("spider", ["html", "rdf"])
def test_an_empty_file_of_seeds(spider: str, folder: Path) -> None:
    folder.mkdir()
    seeds = folder / "seeds.txt"
    seeds.write_text("\n# nothing but a comment\n\n")
    run = start("crawl", spider, "-a", f"seeds=@{seeds}", folder=folder).wait()
    run.says_in_one_line(str(seeds))


@slow
@pytest.mark.parametrize("spider", ["html", "rdf"])
def test_a_file_of_seeds_that_is_not_there(spider: str, folder: Path) -> None:
    folder.mkdir()
    seeds = folder / "missing.txt"
    run = start("crawl", spider, "-a", f"seeds=@{seeds}", folder=folder).wait()
    run.says_in_one_line(str(seeds))


@slow
def test_a_line_of_a_seed_file_that_is_no_address(folder: Path) -> None:
    folder.mkdir()
    seeds = folder / "seeds.txt"
    seeds.write_text("http://x.example/\nnot an address\n")
    run = start("crawl", "html", "-a", f"seeds=@{seeds}", folder=folder).wait()
    run.says_in_one_line("not an address")
