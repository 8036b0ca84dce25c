"""Where ``semcrawl`` starts: nothing is imported yet that takes long to load."""

from __future__ import annotations

import gc
import sys


def main(argv: list[str] | None = None) -> None:
    """Run a command; see :func:`semcrawl.cli.main.main`."""
    gc.disable()  # there is no garbage yet, and what is loaded stays
    try:
        from semcrawl.cli import main as commandline
    except KeyboardInterrupt:
        sys.exit(130)
    gc.freeze()
    gc.enable()
    commandline.main(argv)


if __name__ == "__main__":
    main()
