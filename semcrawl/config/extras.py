"""Tells users how to install optional extras."""

from __future__ import annotations

from pathlib import Path

import semcrawl


def install_hint(extra: str) -> str:
    """Return the pip command that installs an extra, for this checkout or by name.

    The name needs an index that has the package.
    """
    root = Path(semcrawl.__file__).resolve().parents[1]
    if (root / "pyproject.toml").is_file():
        return f'pip install "{root}[{extra}]"'
    return f'pip install "semcrawl[{extra}]" (from a checkout: pip install ".[{extra}]")'
