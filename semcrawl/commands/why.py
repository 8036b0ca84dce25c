"""``semcrawl why``: tell all that a job knows of one address, or why it was never asked for."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings

from semcrawl.commandline import OfflineCommand, job_at, print_json, refuse_several
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.frontier.backends import visited_frontier
from semcrawl.printable import printable
from semcrawl.rdf.shortnames import shorten
from semcrawl.results.job import Job
from semcrawl.results.reporting.making import Fate, Known, Place, known_of, place_of, redirect_ends
from semcrawl.terminal import amount
from semcrawl.web.urls import Normalisation, normalise

_SHOWN = 5


class Command(OfflineCommand):
    """Tells who links to an address, what became of it, and where it waits."""

    arguments = "[options] URL [DIR]"
    summary = "Tell all that is known of one address, or why it was not fetched"
    description = (
        "Tell of an address what the job in DIR (default: the current folder) knows: who links "
        "to it, its attempts and outcomes, its documents; or why it was never asked for. A "
        "frontier on servers needs -s REDIS_URL=…. Nothing is sent to the Web."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print all of it as JSON")

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse what is no address."""
        if not args or not args[0].strip():
            raise UsageError("give an address and a job folder: semcrawl why URL DIR")
        refuse_several(args[1:])
        _address(args[0])

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Look up and tell."""
        with Job(job_at(args, 1)) as job:
            chain = redirect_ends(job, _address(args[0]))
            if len(chain) == 1 and not known_of(job, chain[0]).attempts:
                chain = redirect_ends(job, _address(args[0], exact=False))
            known = [known_of(job, url) for url in chain]
        places = asyncio.run(_places(self.own_settings, job.folder, chain))
        first, *then = (Fate(*both) for both in zip(known, places, strict=True))
        first.then = then
        if opts.json:
            print_json(first.as_dict())
            return
        for fate in (first, *then):
            print("\n".join(printable(line) for line in _told(fate)))


def _address(text: str, *, exact: bool = True) -> str:
    """Return an address as it is, or as the crawl spells it; raise ``UsageError`` for none."""
    url = normalise(text.strip(), Normalisation(exact=exact))
    if url is None:
        raise UsageError(f"not an http or https URL: {text!r}")
    return url


async def _places(settings: BaseSettings, folder: Path, urls: Sequence[str]) -> list[Place]:
    """Find the addresses in the frontier; without one, say why it is not known."""
    try:
        async with visited_frontier(settings, folder) as frontier:
            return [await place_of(frontier, url) for url in urls]
    except SemcrawlError as error:
        return [Place("unknown", reason=str(error))] * len(urls)


def _told(fate: Fate) -> Iterator[str]:
    """Yield the lines about an address."""
    known, state = fate.known, fate.place.state
    yield known.url
    for line in fate.lines():
        yield f"  {line}"
    pages = known.pages or ([state.parent] if state and state.parent else [])
    linking = dict.fromkeys(pages, "") | known.words
    yield from _listed(
        "linked from", [f"{page} “{words}”" if words else page for page, words in linking.items()]
    )
    mentions = [
        f"{url} ({'described there' if how == 'subject' else shorten(how)})"
        for url, how in known.mentions.items()
    ]
    yield from _listed("mentioned in", mentions)
    yield from _listed("redirected from", known.redirected_from)
    yield from _standing(fate)
    yield from _attempts(known)
    for document in known.documents:
        yield f"  document: {_document(document)}"
    yield from _listed("its graph has statements of", known.contributors)


def _listed(title: str, items: Sequence[str]) -> Iterator[str]:
    for item in items[:_SHOWN]:
        yield f"  {title} {item}"
    if len(items) > _SHOWN:
        yield f"  {title} {len(items) - _SHOWN:,} more"


def _standing(fate: Fate) -> Iterator[str]:
    """Yield label, group and rules, of the frontier or of the last attempt."""
    link, state, last = fate.place.link, fate.place.state, fate.known.last
    if link is not None and state is not None:
        rules = f", rules {' '.join(state.rules)}" if state.rules else ""
        yield f"  label {link.entry.label or '–'}, group {link.entry.group}{rules}"
    elif last is not None and last["label"]:
        rules = f", rules {last['rules']}" if last["rules"] else ""
        yield f"  label {last['label']}, found by {last['found_by'] or '–'}{rules}"
    if last is not None and last["relevance"] is not None:
        yield f"  relevance {last['relevance']:.2f} to the topic"
        for reason in (last["reasons"] or "").splitlines():
            yield f"    {reason}"


def _attempts(known: Known) -> Iterator[str]:
    for one in known.attempts:
        moment = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(one["started_at"]))
        parts = [one["outcome"]]
        parts += [f"status {one['status']}"] if one["status"] else []
        parts += [one["content_type"]] if one["content_type"] else []
        parts += [f"{one['bytes']:,} bytes"] if one["bytes"] else []
        parts += [amount(one["quads"], "statement")] if one["quads"] else []
        parts += [f"{one['elapsed']:.2f} s"] if one["elapsed"] else []
        yield f"  attempt {moment}: {', '.join(parts)}"


def _document(row: dict[str, Any]) -> str:
    text = f"{row['url']}, {row['format']}, {amount(row['quads'], 'statement')}"
    if row["error_count"]:
        text += f", {amount(row['error_count'], 'error')}"
    text += f", {amount(row['visits'], 'visit')}, {amount(row['changes'], 'change')}"
    return text + (", gone" if row["gone_at"] else "")
