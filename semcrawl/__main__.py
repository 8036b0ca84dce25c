"""Where ``semcrawl`` starts: nothing is imported yet that takes long to load."""

from __future__ import annotations

import gc
import os
import sys


def main(argv: list[str] | None = None) -> None:
    """Run a command; see :func:`semcrawl.commandline.main`."""
    _have_streams()
    gc.disable()  # there is no garbage yet, and what is loaded stays
    try:
        from semcrawl import commandline
    except KeyboardInterrupt:
        sys.exit(130)
    gc.freeze()
    gc.enable()
    commandline.main(argv)


def _have_streams() -> None:
    """Open the null device for each standard stream that is closed (``>&-``).

    A file of the crawl would get the number of the closed stream otherwise, and messages to the
    stream would go into the file.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = -1
            while opened < number:
                opened = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(opened, "w" if number else "r"))


if __name__ == "__main__":
    main()
