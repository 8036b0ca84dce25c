"""Optional parts: how they are installed."""

from __future__ import annotations

from pathlib import Path

import semcrawl


def install_hint(extra: str) -> str:
    """Say by which command an optional part comes: from the checkout that runs, or by name.

    The name alone needs an index that has the package.
    """
    root = Path(semcrawl.__file__).resolve().parents[1]
    if (root / "pyproject.toml").is_file():
        return f'pip install "{root}[{extra}]"'
    return f'pip install "semcrawl[{extra}]" (from a checkout: pip install ".[{extra}]")'
