"""Stores to deliver to."""

from __future__ import annotations

import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.results.conftest import semcrawl as semcrawl

from .servers import Oxigraph, Virtuoso, fake_store


@pytest.fixture
def job(tmp_path):
    """An empty job folder."""
    folder = tmp_path / "job"
    folder.mkdir()
    return folder


@pytest.fixture
def oxigraph(tmp_path):
    if not Oxigraph.binary.exists():
        pytest.skip("needs the PyPI package oxigraph")
    server = Oxigraph(tmp_path / "oxigraph")
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def new_virtuoso(tmp_path_factory):
    """A folder of a Virtuoso that has been started once: its first start takes long."""
    if not Virtuoso.binary:
        pytest.skip("needs virtuoso-opensource")
    server = Virtuoso(tmp_path_factory.mktemp("virtuoso") / "new")
    server.start()
    server.sql("shutdown;")
    server.process.wait(60)
    return server.folder


@pytest.fixture
def virtuoso(tmp_path, new_virtuoso):
    server = Virtuoso(tmp_path / "virtuoso")
    shutil.copytree(new_virtuoso, server.folder)
    server.start()
    yield server
    server.kill()


@pytest.fixture(
    params=["oxigraph", pytest.param("virtuoso", marks=[pytest.mark.server, pytest.mark.slow])]
)
def server(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def fake():
    """A server that can be sick."""
    with fake_store() as server:
        yield server


@pytest.fixture
def web(tmp_path):
    """A site of one listing with two documents."""
    folder = tmp_path / "web"
    folder.mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    base = f"http://127.0.0.1:{server.server_port}"
    for name in ("a.ttl", "b.ttl"):
        (folder / name).write_text(f'<{base}/{name}#x> <{base}/#p> "1" .\n')
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield base
    server.shutdown()
    server.server_close()
