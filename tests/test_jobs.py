"""Jobs in files: what they hold, what is refused, what a folder keeps, how one is written."""

from __future__ import annotations

import io
import os
import tomllib
from pathlib import Path

import pytest
from harvest.runs import Run, start
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.commandline import main
from semcrawl.commands._harvestoptions import add_harvest_options
from semcrawl.commands._jobfile import job_keys, read_job
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.settings.table import TABLE

SEEDS = 'seeds = ["http://x.example/"]\n'
#: a file that is wrong, and what its line says
WRONG = [
    ("seeds = [", "is not TOML: "),
    ("seeds = 1\nseeds = 2", "is not TOML: "),
    (b"seeds = ['\xff']", "is not UTF-8 (line 1)"),
    ("[" * 5000, "is not TOML: "),
    ("seeds = 'http://x.example/'", "seeds must be a list of texts"),
    ("seeds = [1]", "seeds must be a list of texts"),
    ("seeds = ['gopher://x/']", "seeds: not an http or https URL: 'gopher://x/'"),
    ("seeds = ['@missing.txt']", "cannot read the seed file missing.txt"),
    ("seeds = []", "give a URL to start from"),
    (SEEDS + "page = 5", "page is no key; did you mean pages?"),
    (SEEDS + "crawl_delay = 5", "crawl_delay is no key; did you mean crawl-delay?"),
    (SEEDS + "SEMCRAWL_CRAWL_DELAY = 5", "did you mean crawl-delay?"),
    (SEEDS + "pages = 'many'", "pages must be a whole number, not 'many'"),
    (SEEDS + "pages = 1.5", "pages must be a whole number, not 1.5"),
    (SEEDS + "pages = true", "pages must be a whole number, not true"),
    (SEEDS + "pages = -1", "pages must be 0 or more, not -1"),
    (SEEDS + "crawl-delay = '1'", "crawl-delay must be a number, not '1'"),
    (SEEDS + "crawl-delay = nan", "crawl-delay must be a number"),
    (SEEDS + "record = 1", "record must be true or false, not 1"),
    (SEEDS + "fast = 'yes'", "fast must be true or false, not 'yes'"),
    (SEEDS + "exclude = [1]", "exclude must be a text or a list of texts"),
    (SEEDS + "exclude = ['re:(']", "exclude: "),
    (SEEDS + "output = 'a.nq'", "output must be a list of texts"),
    (SEEDS + "metadata = 'csv'", "metadata must be one of parquet, not 'csv'"),
    (SEEDS + "sitemaps = 'often'", "sitemaps must be one of auto, never, only"),
    (SEEDS + "scope = 'sit'", "there is no scope 'sit'; did you mean site?"),
    (SEEDS + "targets = 'rfd'", "targets: 'rfd' "),
    (SEEDS + "relevance = 'lerned'", "lerned"),
    (SEEDS + "workers = 'two'", "workers must be auto or a number"),
    (SEEDS + "host-budget = 'requests=x'", "host-budget"),
    (SEEDS + "forms = 'x'", "forms must be a table, not 'x'"),
    (SEEDS + "store = 'http://x/'", "store is no key; did you mean store-"),
    (SEEDS + "[store]\npassword = 'secret-word'", "set SEMCRAWL_STORE_PASSWORD in the environment"),
    (SEEDS + "store-url = 'http://u:secret-word@x/'", "store-url would show a password"),
    (SEEDS + "store-url='http://a/'\n[store]\nurl = 'http://b/'", "store-url is given twice"),
    (SEEDS + "[store]\nurls = 'http://x/'", "store-urls is no key; did you mean store-url?"),
    (SEEDS + "scrapy = 1", "scrapy must be a table"),
    (SEEDS + "[scrapy]\nUSER_AGEN = 'x'", "USER_AGEN is no setting of Scrapy"),
    (SEEDS + "[scrapy]\nDOWNLOAD_TIMEOUT = 'long'", "scrapy: DOWNLOAD_TIMEOUT must be a number"),
    (SEEDS + "[scrapy]\nREDIS_URL = 'redis://:secret-word@x'", "set REDIS_URL in the environment"),
]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(*each, marks=[pytest.mark.slow] if n % 20 else [])
        for n, each in enumerate(WRONG)
    ],
)
def test_a_wrong_file_is_told_in_one_line_with_its_key(
    text: str | bytes,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SystemExit) as ended:
        main(["semcrawl", "harvest", "job.toml"])
    error = capsys.readouterr().err
    assert ended.value.code == 2
    assert error.count("\n") == 1
    assert words in error
    assert "secret-word" not in error
    assert "job.toml" in error or not text.count("\n"), error
    assert os.listdir() == ["job.toml"]


def test_every_fault_of_a_file_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "job.toml"
    path.write_text(SEEDS + "page = 1\npages = 'x'\n[scrapy]\nX = 1\n")
    with pytest.raises(SystemExit):
        main(["semcrawl", "harvest", str(path)])
    assert len(capsys.readouterr().err.splitlines()) == 3


def keys():
    import argparse

    parser = argparse.ArgumentParser()
    add_harvest_options(parser)
    return job_keys(parser)


@pytest.mark.parametrize("path", sorted(Path(__file__).parents[1].glob("examples/*.toml")))
def test_examples_are_jobs(path: Path) -> None:
    job = read_job(path, keys())
    assert not job.faults
    assert job.seeds


def test_every_setting_has_one_key() -> None:
    named = [meaning.name for meaning in keys().values() if hasattr(meaning, "says")]
    own = {name for name in TABLE if name.startswith("SEMCRAWL_")}
    assert sorted(named) == sorted(own - {"SEMCRAWL_JOBDIR", "SEMCRAWL_JOIN"})


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(sorted(keys())), st.integers() | st.text() | st.booleans()))
def test_any_values_are_read_or_refused(tmp_path_factory, values) -> None:
    import tomli_w

    path = tmp_path_factory.mktemp("jobs") / "job.toml"
    path.write_text(tomli_w.dumps(values), "utf-8")
    job = read_job(path, keys())
    assert len(job.settings) + len(job.options) + len(job.faults) == len(values)


def test_a_file_is_written_from_answers_of_a_pipe_and_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new" / "fish.toml"

    def init(answers: str, *options: str) -> int | str | None:
        monkeypatch.setattr("sys.stdin", io.StringIO(answers))
        with pytest.raises(SystemExit) as ended:
            main(["semcrawl", "init", str(path), *options])
        return ended.value.code

    answers = "http://a.example/ http://b.example/x\nfish\n\n\nkeywords:fish\n20\n0.5\n\n"
    assert init("http://a.example/\n\nsit\n") == 2
    assert "did you mean site?" in capsys.readouterr().err
    assert not path.exists()
    assert init(answers) == 0
    job = tomllib.loads(path.read_text("utf-8"))
    assert job == {
        "seeds": ["http://a.example/", "http://b.example/x"],
        "out": "fish",
        "about": "keywords:fish",
        "pages": 20,
        "crawl-delay": 0.5,
    }
    assert not read_job(path, keys()).faults
    assert init(answers) == 2
    assert "--force replaces it" in capsys.readouterr().err
    assert init("http://c.example/\n", "--force") == 0
    assert tomllib.loads(path.read_text("utf-8")) == {"seeds": ["http://c.example/"]}


@pytest.mark.slow
def test_a_job_is_run_kept_and_repeated(tmp_path: Path) -> None:
    """The command line overrides the file, and the folder's copy repeats what was used."""
    with serve(DemoWeb()) as server:
        path = tmp_path / "demo.toml"
        path.write_text(
            f'''seeds = ["{DemoWeb.start}"]
            pages = 50
            fast = true
            exclude = ["/nothing/*"]
            output = ["{tmp_path}/all.nt"]
            '''
        )

        def harvest(folder: Path, *arguments: str) -> Run:
            run = start("harvest", *arguments, folder=folder, proxy=server.proxy_url).wait()
            assert run.status == 0, run.err
            return run

        out, again = tmp_path / "out", tmp_path / "again"
        assert harvest(out, str(path), "--pages", "7", "--out", str(out)).summary["requests"] == 7
        kept = tomllib.loads((out / "job.toml").read_text("utf-8"))
        assert kept["pages"] == 7
        assert kept["exclude"] == ["/nothing/*"]
        assert kept["crawl-delay"] == 0
        assert kept["output"] == [f"{tmp_path}/all.nt"]
        copy = str(out / "job.toml")
        assert harvest(again, copy, "--out", str(again)).summary["requests"] == 7
        assert tomllib.loads((again / "job.toml").read_text("utf-8")) == kept
        assert harvest(out, copy).summary["requests"] == 14  # goes on where it stopped
