"""A certificate for servers of tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from semcrawl.lab.serve import self_signed


def certify(folder: Path) -> Path:
    """A file with a key and a certificate that nobody vouches for, and that is out of date."""
    file = folder / "server.pem"
    file.write_bytes(self_signed(datetime.now(UTC) - timedelta(days=1)))
    return file
