"""``semcrawl images``: search the images of a job, in the terminal or a browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import BaseSettings

from semcrawl.commandline import JobCommand, print_json, print_table, remark, serve_until_stopped
from semcrawl.config.extras import install_hint
from semcrawl.errors import UsageError
from semcrawl.settings.reader import fill

if TYPE_CHECKING:
    from semcrawl.imagesearch import ImageSearch, SearchOptions
    from semcrawl.imagesearch.search import Answer

#: fewest images for which indexing is announced
_MANY = 200


class Command(JobCommand):
    """Searches images, or serves the search."""

    arguments = "[options] search WORDS… DIR | serve DIR"
    summary = "Search the images that a harvest kept, here or in a browser"
    description = (
        "`search` shows the images of the job in DIR that match the words, the best first. It "
        "corrects misspelled words, and shows pictures where the terminal can. `serve` does "
        "the same in a browser on this machine. A harvest with --targets images keeps images; "
        "the first search indexes them in images-index.db."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        self.add_top(parser, 10, "images")
        parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
        parser.add_argument(
            "--pictures",
            choices=("auto", "always", "never"),
            default="auto",
            help="show pictures if the terminal can (auto, the default), always or never",
        )
        parser.add_argument("--exact", action="store_true", help="do not correct misspelled words")
        parser.add_argument(
            "--port",
            type=int,
            default=8266,
            metavar="N",
            help="port to serve on (8266; 0: a free one)",
        )

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse missing and superfluous arguments."""
        super().check(args, opts)
        if not args or args[0] not in ("search", "serve"):
            raise UsageError("give an action: semcrawl images search WORDS DIR, or serve DIR")
        if args[0] == "search" and len(args) < 3:
            raise UsageError("give words and a job folder: semcrawl images search WORDS DIR")
        if args[0] == "serve" and len(args) != 2:
            raise UsageError("give a job folder: semcrawl images serve DIR")
        if not 0 <= opts.port <= 65535:
            raise UsageError(f"--port must be from 0 to 65535, not {opts.port}")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Search, or serve until stopped."""
        try:
            self._search(args, opts)
        except ModuleNotFoundError as error:
            raise UsageError(f"{error.name} is not installed: {install_hint('images')}") from None

    def _search(self, args: list[str], opts: argparse.Namespace) -> None:
        from semcrawl.imagesearch import ImageSearch

        options = search_options(self.own_settings)
        with ImageSearch(Path(args[-1]), options, _say_that_it_takes_long) as search:
            if args[0] == "serve":
                _serve(search, opts.port)
            else:
                answer = search.search(" ".join(args[1:-1]), opts.top, exact=opts.exact)
                self._show(search, answer, opts)

    def _show(self, search: ImageSearch, answer: Answer, opts: argparse.Namespace) -> None:
        from semcrawl.imagesearch.search import found_as_dict, shown_images

        shown = shown_images(search.engine, [hit.image for hit in answer.hits])
        if opts.json:
            print_json(found_as_dict(answer, shown))
            return
        if answer.is_corrected:
            remark(f"images for: {answer.searched} (--exact searches for {answer.asked})")
        if answer.did_you_mean:
            remark(f"did you mean: {answer.did_you_mean}?")
        if not shown:
            remark(f"no image in {search.folder} was found for {answer.asked}")
        else:
            from semcrawl.imagesearch.terminalpictures import print_pictures

            if not print_pictures(search.folder, answer, shown, opts.pictures):
                scores = {hit.image: hit.score for hit in answer.hits}
                print_table(
                    f"images ({len(shown):,} of {answer.total:,})",
                    {"score": True, "image": False, "text": False, "page": False},
                    [(f"{scores[each.id]:.2f}", each.url, each.text, each.page) for each in shown],
                )
        if answer.similar:
            remark(f"similar: {', '.join(answer.similar)}")


def search_options(settings: BaseSettings) -> SearchOptions:
    """Return the options of a search from the settings. Raises ``UsageError``."""
    from semcrawl.imagesearch import SearchOptions

    return fill(SearchOptions, settings)


def _say_that_it_takes_long(images: int) -> None:
    if images > _MANY:
        remark(f"indexing {images:,} images first, only once …")


def _serve(search: ImageSearch, port: int) -> None:
    from semcrawl.imagesearch.serving import serve_search

    serve_until_stopped(lambda stopped: serve_search(search, port, _say_where, stopped), port)


def _say_where(address: str) -> None:
    print(f"Search the images at {address}\nStop with Ctrl-C.", flush=True)
