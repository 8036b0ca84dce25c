"""The summary of a harvest: what was found, what was missed and why."""

from __future__ import annotations

import json
import os
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Any

from rich.table import Table
from sqlalchemy import func, make_url, select
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.config.targets import Targets
from semcrawl.crawl.healthsigns import GivenUp, given_up_lines
from semcrawl.errors import StoreError, UsageError
from semcrawl.frontier.backends import is_on_servers
from semcrawl.frontier.contract import LeftOutLinks, Withheld
from semcrawl.houses import Report
from semcrawl.items import FAILED, FetchOutcome
from semcrawl.links import Reason
from semcrawl.metadata.database import CRAWL_DB, crawl_db_url, one_line, opened
from semcrawl.metadata.history import change_line, changes_since
from semcrawl.metadata.records import Fetch
from semcrawl.metadata.seedfates import seed_fates
from semcrawl.metadata.summary import (
    MISSED_WORDS,
    NOT_FOUND,
    ROBOTS_FIRST,
    Summary,
    last_problem,
    summarise,
)
from semcrawl.pipelines.files import FILES_FOLDER
from semcrawl.pipelines.pagestore import PAGES_FILE
from semcrawl.pipelines.quadsfile import EMBEDDED_LEDGER
from semcrawl.terminal import aligned, amount, fitted, plain_console
from semcrawl.web.hosts import netloc_of
from semcrawl.wholefiles import whole_file

#: hosts and families per reason in ``summary.json``
_KEPT = 10
#: hosts and families per reason on the terminal
_GROUPS_SHOWN = 3
_INDENT = "  "
#: reasons to leave links out, which are counted up to a limit
_LEFT_OUT = frozenset(map(str, Reason))


@dataclass(frozen=True, slots=True)
class LinksLeft:
    """The links that a run left in the frontier, or out of it."""

    #: links that still wait; ``None`` if the run ended before they were counted
    waiting: int | None = 0
    #: targets that the strategy expects among them; ``None`` if unknown
    expected_left: float | None = None
    #: entries of lists that have not become links yet
    listed_left: int = 0
    #: the limit that ended the run: ``pages``, ``patience``, or empty
    limit: str = ""
    #: links that were left out of the frontier
    left_out: LeftOutLinks = field(default_factory=LeftOutLinks)
    #: links dropped because the frontier was full
    dropped: int = 0


class NotHarvested:
    """Links that were not harvested, by reason, over all runs on a job folder."""

    def __init__(self, missed: Mapping[str, Counter[str]], left: LinksLeft) -> None:
        """Merge the counts of records and frontier."""
        self._left = left
        #: reason → links by host with its port
        self._hosts = {str(reason): Counter(found) for reason, found in missed.items()}
        for reason, found in left.left_out.hosts.items():
            self._hosts.setdefault(str(reason), Counter()).update(found)
        self._families = left.left_out.withheld

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as ``summary.json`` holds them."""
        result: dict[str, Any] = {}
        for reason in MISSED_WORDS:
            if found := self._hosts.get(reason):
                top = dict(_top(found, _KEPT))
                result[reason] = {"links": found.total(), "hosts": top}
                if others := len(found) - len(top):
                    result[reason]["other_hosts"] = others
                if self._left.left_out.more and reason in _LEFT_OUT:
                    result[reason]["at_least"] = True
        families = self._families
        if families:
            result["withheld"] = {
                "links": _links(families),
                "families": [asdict(family) for family in families[:_KEPT]],
            }
            if others := len(families[_KEPT:]):
                result["withheld"]["other_families"] = others
        if self._left.dropped:
            result["dropped"] = {"links": self._left.dropped}
        if self._left.waiting:
            result["waiting"] = {"links": self._left.waiting}
            if self._left.limit:
                result["waiting"]["limit"] = self._left.limit
        return result

    def lines(self, width: int) -> list[str]:
        """Return the lines for a terminal of ``width`` columns; none if nothing was missed."""
        parts = []
        for reason, words in MISSED_WORDS.items():
            if reason is Reason.OTHER_TYPE:
                continue  # no page is without them; summary.json has the number
            if found := self._hosts.get(reason):
                least = "at least " if self._left.left_out.more and reason in _LEFT_OUT else ""
                parts.append(f"{least}{found.total():,} {words}: {_named(found)}")
        families = self._families
        parts += [_family(family) for family in families[:_GROUPS_SHOWN]]
        if others := families[_GROUPS_SHOWN:]:
            parts.append(f"{_links(others):,} more of {len(others):,} such families")
        if self._left.dropped:
            parts.append(f"{self._left.dropped:,} dropped, as the frontier was full")
        if self._left.waiting:
            parts.append(self._waiting_text(self._left.waiting))
        if not parts:
            return []
        lines = ["Links not harvested:"]
        for part in parts:
            lines += textwrap.wrap(
                part,
                max(width, 20),
                initial_indent=_INDENT,
                subsequent_indent=2 * _INDENT,
                break_long_words=False,
                break_on_hyphens=False,
            )
        return [line.replace("\0", " ") for line in lines]

    def _waiting_text(self, waiting: int) -> str:
        listed = self._left.listed_left
        entries = f" and {listed:,} of lists" if listed else ""
        text = f"{amount(waiting, 'link')}{entries} wait{'s' if waiting + listed == 1 else ''}"
        if self._left.expected_left is not None:
            expected = f"{self._left.expected_left:,.0f}"
            expected += " target is" if expected == "1" else " targets are"
            text += f"; about {expected} expected behind them"
        if self._left.limit == "patience":
            return text + ". Ended early, out of patience."
        if self._left.limit == "pages":
            return text + ". All requests of this run (--pages) were sent; the next goes on."
        return text + ". The next run goes on."


def _links(withheld: Sequence[Withheld]) -> int:
    return sum(family.links for family in withheld)


def _family(family: Withheld) -> str:
    return (
        f"{family.links:,} of {family.document} like {family.pattern}, as none of "
        f"{family.asked:,} requests gave a result"
    )


def _top(found: Counter[str], number: int) -> list[tuple[str, int]]:
    """Return the hosts with the most links, in a deterministic order."""
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:number]


def _named(found: Counter[str]) -> str:
    """Name the hosts with the most links."""
    top = _top(found, _GROUPS_SHOWN)
    text = ", ".join(f"{host}\0{links:,}" for host, links in top)
    if others := len(found) - len(top):
        text += f" and {others:,} more host" + ("s" if others > 1 else "")
    return text


#: hosts shown in the table
_HOSTS_SHOWN = 30
SUMMARY_FILE = "summary.json"


@dataclass(frozen=True, slots=True)
class RunFigures(LinksLeft):
    """Facts of a harvest that are not in its records."""

    #: bytes of bodies that the fetch filter saved
    bytes_saved: int = 0
    #: kept files of wanted media types: URL → hash of the content
    files: Mapping[str, str] = field(default_factory=dict)
    #: pages kept as targets of this topic, and those that only earlier topics kept
    pages: int = 0
    other_pages: int = 0
    #: topic of the run before; empty without one
    former_about: str = ""
    #: what houses report
    reports: Sequence[Report] = ()
    #: the user's topic, and the least relevance of a target
    about: str = ""
    threshold: float = 0.0
    targets: Targets = field(default_factory=Targets)
    #: hosts whose links were set aside in this run
    given_up: Sequence[GivenUp] = ()
    #: whether there were records when the run began
    resumed: bool = False
    #: database of the records; empty: in the job folder
    records: str = ""
    #: when the run began, in seconds since the epoch; 0 = unknown
    began: float = 0.0
    #: numbers of workers started, restarted and lost; empty for a single process
    workers: Mapping[str, int] = field(default_factory=dict)

    def not_harvested(self, summary: Summary) -> NotHarvested:
        """Return the links that were not harvested, over all runs."""
        return NotHarvested(summary.missed, self)


def last_summary(folder: Path) -> dict[str, Any]:
    """Return the summary of earlier runs; empty if there is none."""
    try:
        data = json.loads((folder / SUMMARY_FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def moment_of(text: str) -> float | None:
    """Return the moment that ``--since`` names (seconds since the epoch); ``None`` if it is empty.

    It is in UTC unless it says otherwise. Raises ``UsageError``.
    """
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--since must be a date such as 2026-11-27, not {text!r}") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def since_option(text: str, folder: Path) -> float | None:
    """Return the moment that ``--since`` names, else that at which the last run began, if known."""
    began = last_summary(folder).get("run_began")
    return moment_of(text) if text else began if isinstance(began, float | int) else None


def write_summary(folder: Path, database: str, run: RunFigures) -> Summary:
    """Summarise the records of all runs, and write ``summary.json`` atomically."""
    with opened(database) as engine:
        try:
            summary = summarise(engine, run.targets, run.threshold)
        except SQLAlchemyError as error:
            raise StoreError(f"{folder / CRAWL_DB} cannot be read: {one_line(error)}") from None
    data = summary.as_dict()
    if run.began:
        data["run_began"] = run.began
    data["bytes_saved"] = run.bytes_saved + int(last_summary(folder).get("bytes_saved", 0))
    if run.files:
        data["files"] = len(run.files)
    data["target_kinds"] = run.targets.names
    if run.about:
        data["about"], data["threshold"] = run.about, run.threshold
    if summary.checks_stopped:
        data["checks_stopped"] = summary.checks_stopped
    if run.pages:
        data["pages"] = run.pages
    if run.other_pages:
        data["pages_of_other_topics"] = run.other_pages
    if run.workers:
        data["workers"] = dict(run.workers)
    for report in run.reports:
        data.update(report.data)
    data["waiting"] = run.waiting
    if run.expected_left is not None:
        data["expected_left"] = round(run.expected_left, 1)
    if run.listed_left:
        data["listed_left"] = run.listed_left
    data["not_harvested"] = run.not_harvested(summary).as_dict()
    if run.given_up:
        data["hosts_given_up"] = [host.as_dict() for host in run.given_up]
    with whole_file(folder / SUMMARY_FILE) as file:
        file.write((json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode())
    return summary


def aim_of(folders: Sequence[Path]) -> tuple[Targets, str, float]:
    """Return targets, topic and threshold of crawls from the summaries in their job folders.

    The targets of all are united. Topic and threshold are the last folder's that has a topic.
    """
    summaries = [last_summary(folder) for folder in folders]
    kinds = [str(one.get("target_kinds") or "rdf") for one in summaries]
    try:
        targets = Targets.parse(",".join(kinds))
    except UsageError:  # not our summaries
        targets = Targets()
    topics = [one for one in summaries if isinstance(one.get("about"), str)]
    if not topics:
        return targets, "", 0.0
    threshold = topics[-1].get("threshold")
    reached = float(threshold) if isinstance(threshold, float | int) else 0.0
    return targets, topics[-1]["about"], reached


def count_records(database: str) -> int:
    """Return the number of attempts in a database; raise as ``connect`` does."""
    with (
        opened(database) as engine,
        engine.execution_options(read_only=True).connect() as connection,
    ):
        return connection.scalar(select(func.count()).select_from(Fetch)) or 0


def shown_database(database: str, folder: Path) -> str:
    """Return the URL to display of a database outside the job folder, or an empty string."""
    is_own = database == crawl_db_url(folder)
    return "" if is_own else make_url(database).render_as_string(hide_password=True)


def why_nothing(database: str) -> str:
    """Return a line on why nothing could be fetched: the seeds' own reason, if there is one.

    Else the last failed attempt tells.
    """
    with opened(database) as engine:
        reasons = [fate.failure for fate in seed_fates(engine)]
        reason = next(filter(None, reversed(reasons)), "") or last_problem(engine)
    reason = reason.removeprefix(ROBOTS_FIRST)  # requested first; the page would fail too
    kind, colon, text = reason.partition(": ")
    reason = text if colon and kind.isidentifier() else reason
    return f"nothing could be fetched{': ' if reason else ''}{reason.rstrip('.')}"


#: how outcomes of addresses begin that were fetched, of use or not
_HAD = (
    "fetched-", "filtered", "not-modified", "sitemap-unchanged", "duplicate", "too-large",
    "parse-error", "off-topic",
)  # fmt: skip


def all_in_vain(summary: Summary) -> bool:
    """Whether there were requests, and nothing but robots.txt files and contexts was fetched."""
    if not (summary.requests or any(host.errors for host in summary.hosts.values())):
        return False
    aside = ("fetched-robots", "fetched-context")
    return not any(n.startswith(_HAD) and n not in aside for n in summary.outcomes)


def show_summary(summary: Summary, folder: Path, before: int, run: RunFigures) -> None:
    """Print the results per host, and where they are. ``before``: requests of earlier runs."""
    console = plain_console()
    named = quote(str(folder))  # in commands to copy
    requeue = f"semcrawl frontier {named} --requeue"
    if is_on_servers(folder) and "REDIS_URL" not in os.environ:
        requeue += " -s REDIS_URL=…"

    def say(line: str) -> None:
        console.print(line, soft_wrap=True)

    console.print(fitted(_table(summary, folder), console))
    ways = sorted(summary.found_by.items(), key=lambda pair: -pair[1].rdf_documents)
    parts = [f"{way} {sums.rdf_documents:,}" for way, sums in ways if sums.rdf_documents]
    for line in _wrapped("RDF found by:", parts, console.width) if parts else ():
        say(line)
    rest = {k: v for k, v in summary.outcomes.items() if k not in ("fetched-rdf", "fetched-html")}
    for line in _wrapped("Other outcomes:", [f"{k} {v:,}" for k, v in rest.items()], console.width):
        say(line)
    parts = [f"{name} {count:,}" for name, count in summary.unread.items()]
    head = "RDF in formats that are not read:"
    for line in _wrapped(head, parts, console.width) if parts else ():
        say(line)
    if (before or run.resumed) and summary.requests == before and run.waiting == 0:
        say(
            "This run found nothing left to fetch. To try failed links again: "
            f"{requeue}; to see what changed: --revisit."
        )
    elif before:
        say(f"This run: {summary.requests - before:,} of these requests.")
    if again := run.workers.get("restarted"):
        say(f"Workers that died and were started again: {again}; crawl.log may say why.")
    if lost := run.workers.get("lost"):
        say(f"Workers that ended early, and were not started again: {lost}; see crawl.log.")
    if summary.embedded_documents:
        say(
            f"Embedded in pages: {amount(summary.embedded_quads, 'quad')} in "
            f"{amount(summary.embedded_documents, 'page')}, in {folder / 'embedded.nq'}"
        )
    if summary.browser_pages or summary.browser_requests:
        say(
            f"In the browser: {amount(summary.browser_pages, 'page')}, with "
            f"{amount(summary.browser_requests, 'request')} for what their scripts asked for"
        )
    if summary.checks_stopped:
        say(
            f"Shape checks that were stopped, and count as failed: {summary.checks_stopped:,}. "
            "For more time set SEMCRAWL_ABOUT_SHAPE_TIMEOUT."
        )
    if run.pages:
        about = f" about {run.about}" if run.about else ""
        say(
            f"Pages kept{about}: {run.pages:,}, in {folder / PAGES_FILE} "
            f"(as a table: semcrawl pages {named})"
        )
    if run.other_pages:
        say(f"Pages kept for other topics of this folder only: {run.other_pages:,}.")
    gone = summary.html_documents - run.pages - run.other_pages
    if run.former_about not in ("", run.about) and gone > 0 and run.targets.html:
        say(
            f"Pages read for another topic and not kept: up to {gone:,}. Their texts are gone; "
            f"--revisit reads them again."
        )
    if run.files:
        say(
            f"Files of the wanted media types: {len(run.files):,} "
            f"({len(set(run.files.values())):,} different), in {folder / FILES_FOLDER}"
        )
    for report in run.reports:
        say(report.line)
    for line in _for_publishers(summary, folder, run):
        say(line)
    records = run.records or str(folder / CRAWL_DB)
    say(f"Quads: {folder / 'quads.nq'}   Records: {records}")
    for line in run.not_harvested(summary).lines(console.width):
        say(line)
    for line in given_up_lines(run.given_up):
        say(line)
    if summary.missed.get(FAILED):
        say(f"To try failed links again: {requeue}, and go on.")
    if run.left_out.withheld:
        say(f"To fetch all of a family: --out {named} -s SEMCRAWL_FAMILY_TRIES=0.")
    if run.waiting is None:
        say("Stopped before the waiting links were counted. The next run goes on from here.")
    example, links = run.left_out.most
    if links > summary.rdf_documents + summary.html_documents:
        say(
            f"{links:,} links lead to {netloc_of(example)}, which is out of scope. A new harvest "
            f"with one of them as a further seed follows them: {example}"
        )


def _for_publishers(summary: Summary, folder: Path, run: RunFigures) -> Iterator[str]:
    """Yield lines about faults, and about changes since the run before."""
    missed = summary.missed
    dead = sum(missed[reason].total() for reason in (NOT_FOUND, FAILED) if reason in missed)
    unread = missed.get(FetchOutcome.PARSE_ERROR, Counter()).total()
    told = [f"{summary.with_errors:,} read with errors"] if summary.with_errors else []
    told += [f"{unread:,} not readable"] if unread else []
    told += [amount(dead, "dead link")] if dead else []
    if told:
        yield f"{', '.join(told)}: `semcrawl report {quote(str(folder))}` tells publishers more."
    if run.resumed and run.began and (folder / CRAWL_DB).is_file():
        with ExitStack() as stack:
            engines = [
                stack.enter_context(opened(crawl_db_url(folder, ledger)))
                for ledger in (CRAWL_DB, EMBEDDED_LEDGER)
                if (folder / ledger).is_file()
            ]
            changes = changes_since(engines, run.began)
        if line := change_line(changes):
            yield line


def _wrapped(title: str, parts: list[str], width: int) -> list[str]:
    """Return the lines of a list, broken only between its parts."""
    text = ", ".join(part.replace(" ", "\0") for part in parts) or "none"
    lines = textwrap.wrap(f"{title} {text}", width, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def _table(summary: Summary, folder: Path) -> Table:
    table = aligned(f"Found in {folder}", {"host": False})
    images = sum(host.images for host in summary.hosts.values())
    of_images = ["images"] if images else []
    others = ["targets"] if summary.targets != summary.rdf_documents else []
    names = "requests", "RDF", "HTML", *of_images, *others, "errors", "quads", "harvest\nrate"
    for name in names:
        table.add_column(name, justify="right", no_wrap="\n" not in name)
    hosts = list(summary.hosts.items())
    for name, host in hosts[:_HOSTS_SHOWN]:
        table.add_row(
            name, f"{host.requests:,}", f"{host.rdf_documents:,}", f"{host.html_documents:,}",
            *(f"{host.images:,}" for _ in of_images), *(f"{host.targets:,}" for _ in others),
            f"{host.errors:,}", f"{host.quads:,}", f"{host.harvest_rate:.1%}",
        )  # fmt: skip
    if len(hosts) > _HOSTS_SHOWN:
        table.add_row(f"… and {len(hosts) - _HOSTS_SHOWN} more")
    table.add_section()
    errors = sum(host.errors for host in summary.hosts.values())
    table.add_row(
        "all", f"{summary.requests:,}", f"{summary.rdf_documents:,}",
        f"{summary.html_documents:,}", *(f"{images:,}" for _ in of_images),
        *(f"{summary.targets:,}" for _ in others), f"{errors:,}",
        f"{summary.quads:,}", f"{summary.harvest_rate:.1%}", style="bold",
    )  # fmt: skip
    return table
