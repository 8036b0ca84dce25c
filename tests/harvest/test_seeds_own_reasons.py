"""What a run says of its seeds: their own reasons; passing ones are not for ever."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.loopback import web

from .runs import GUESSES, harvest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("status", [401, 404, 410, 500])
def test_the_reason_is_the_seeds_own(tmp_path: Path, status: int) -> None:
    """Guessed addresses of the host are 404 too, but that is not why nothing came."""

    def answer(path: str, _query: object) -> tuple[int, str, bytes]:
        return (status if path == "/data" else 404), "text/plain", b"no"

    with web(answer) as site:
        run = harvest(
            f"{site}/data", "--fast", *GUESSES, "-s", "RETRY_TIMES=0", folder=tmp_path / "out",
            guesses=True,
        )  # fmt: skip
    assert run.status == 1
    assert f"{site}/data answers {status}" in run.err
    assert "guessed" not in run.err


def test_a_seed_that_failed_for_a_passing_reason_is_asked_again(tmp_path: Path) -> None:
    """The first run finds nobody at the port; the second one finds the server."""
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    out = tmp_path / "out"
    seed = f"http://127.0.0.1:{port}/data.ttl"
    options = ("--fast", "-s", "RETRY_TIMES=0")
    first = harvest(seed, *options, folder=out)
    assert first.status == 1
    from .frail import FrailServer

    server = FrailServer(lambda path: (200, "text/turtle", b"<a:a> <b:b> <c:c> ."), port=port)
    server.start()
    try:
        second = harvest(seed, *options, folder=out)
    finally:
        server.stop()
    second.is_calm()
    assert second.status == 0, second.err
    assert len(second.quads) == 1
    assert "could be fetched" not in second.err
