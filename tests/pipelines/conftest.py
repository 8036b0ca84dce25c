"""Stores to deliver to."""

from __future__ import annotations

import pytest

from .servers import Oxigraph, Virtuoso


@pytest.fixture
def oxigraph(tmp_path):
    if not Oxigraph.binary.exists():
        pytest.skip("needs the PyPI package oxigraph")
    server = Oxigraph(tmp_path / "oxigraph")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def virtuoso(tmp_path):
    if not Virtuoso.binary:
        pytest.skip("needs virtuoso-opensource")
    server = Virtuoso(tmp_path / "virtuoso")
    server.start()
    yield server
    server.kill()


@pytest.fixture(
    params=["oxigraph", pytest.param("virtuoso", marks=[pytest.mark.server, pytest.mark.slow])]
)
def server(request):
    return request.getfixturevalue(request.param)
