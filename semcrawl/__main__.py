"""``semcrawl``: Scrapy's command line with this project's settings, from any folder."""

from __future__ import annotations

import os
import sys

from scrapy.cmdline import execute
from scrapy.utils.conf import closest_scrapy_cfg

from semcrawl.errors import SemcrawlError, UsageError


def main(argv: list[str] | None = None) -> None:
    """Run a command. Inside somebody's Scrapy project that project's settings hold."""
    if not closest_scrapy_cfg():
        os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "semcrawl.settings")
    arguments = list(sys.argv if argv is None else argv)
    sys.argv[:1] = arguments[:1] = ["semcrawl"]  # what usage messages show
    try:
        execute(arguments)
    except SemcrawlError as error:
        print(f"semcrawl: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
