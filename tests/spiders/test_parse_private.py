"""``semcrawl parse`` fetches the address that the user names, a private one too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.loopback import web

pytestmark = pytest.mark.slow

SPIDER = """
import scrapy

class Plain(scrapy.Spider):
    name = "plain"

    def parse(self, response):
        yield {"said": response.text}
"""


def test_a_private_address_that_the_user_names_is_fetched(tmp_path: Path) -> None:
    settings = 'ADDONS = {"semcrawl.addon.Addon": 500}\nSPIDER_MODULES = ["theirs.spiders"]\n'
    (tmp_path / "theirs").mkdir()
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = theirs.settings\n")
    (tmp_path / "theirs" / "settings.py").write_text(settings)
    (tmp_path / "theirs" / "spiders.py").write_text(SPIDER)
    with web(lambda path, query: (200, "text/plain", b"it is there")) as base:
        done = subprocess.run(
            [sys.executable, "-m", "semcrawl", "parse", "--spider", "plain", f"{base}/x"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert "it is there" in done.stdout
    assert "private" not in done.stderr


@pytest.mark.parametrize("named", [(), ("--spider", "html"), ("--spider", "nobody")])
def test_spiders_that_take_links_from_the_frontier_are_refused(
    named: tuple[str, ...], tmp_path: Path
) -> None:
    """They return nothing for an address that is no link; ``explain`` is the command for these."""
    done = subprocess.run(
        [sys.executable, "-m", "semcrawl", "parse", *named, "http://a.example/"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("semcrawl: name a spider of your project: --spider NAME; ")
    assert done.stderr.endswith("semcrawl explain http://a.example/\n")
