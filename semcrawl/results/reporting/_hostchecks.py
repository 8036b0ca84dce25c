"""Judges how well programs find and reuse the data of a host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from semcrawl.results.reporting.findings import Verdict
from semcrawl.results.reporting.whatissaid import HostSays
from semcrawl.terminal.messages import amount
from semcrawl.web.vocabulary import FoundBy

_REQUIRED, _RECOMMENDED = ("name", "description"), ("licence", "creator", "distribution")
_NAMED = 3
#: ways by which a page leads a program to data
_LED = (FoundBy.HEADER, FoundBy.EMBEDDED, FoundBy.LINK, FoundBy.NEGOTIATION)


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What records tell of a host, besides its statements."""

    #: documents by the way in which they were found
    found_by: Counter[str]
    #: documents that are served over https
    secure: int
    #: answers with RDF whose headers are on record, those open to scripts, and answers of any kind
    #: with a header that leads programs to data
    answers: int
    open_answers: int
    signposts: int
    #: whether a sitemap was read; ``None``: none was looked for
    sitemap: bool | None


def verdicts_of(host: str, says: HostSays, facts: HostFacts) -> Iterator[Verdict]:
    """Yield a verdict for each check of a host with documents."""
    all_of = f"of {amount(says.documents, 'document')}"

    def some(check: str, number: int) -> Verdict:
        return Verdict(check, host, number > 0, f"{number:,} {all_of}")

    for check in ("licence", "creator", "dates"):
        yield some(check, says.says[check])
    labelled = says.says["labels"]
    yield Verdict("labels", host, 2 * labelled >= says.documents, f"{labelled:,} {all_of}")
    evidence = f"{says.blank:,} of {amount(says.subjects, 'thing')} without an address"
    yield Verdict("addresses", host, 2 * says.blank <= says.subjects, evidence)
    yield some("well-known-terms", says.well_known)
    yield some("links-out", says.linked_out)
    yield some("catalogue", says.catalogues)
    yield _of_sets("set-required", host, says.sets, _REQUIRED)
    yield _of_sets("set-recommended", host, says.sets, _RECOMMENDED)
    yield some("void", says.void)
    yield Verdict(
        "sitemap",
        host,
        facts.sitemap,
        {True: "read", False: "none at the usual places", None: "none was looked for"}[
            facts.sitemap
        ],
    )
    if facts.answers:
        evidence = f"{facts.open_answers:,} of {amount(facts.answers, 'answer')} with RDF"
        yield Verdict("scripts", host, facts.open_answers == facts.answers, evidence)
    else:
        yield Verdict("scripts", host, None, "no headers of answers with RDF are on record")
    led = facts.signposts + sum(facts.found_by[way] for way in _LED)
    ways = ", ".join(f"{way} {number:,}" for way, number in facts.found_by.most_common())
    yield Verdict("described-by", host, True if led else None, f"found by {ways}")
    yield Verdict("https", host, facts.secure == says.documents, f"{facts.secure:,} {all_of}")


def _of_sets(
    check: str, host: str, sets: Mapping[str, set[str]], parts: tuple[str, ...]
) -> Verdict:
    if not sets:
        return Verdict(check, host, None, "no data set is described")
    lacking = {name: [part for part in parts if part not in said] for name, said in sets.items()}
    lacking = {name: missing for name, missing in lacking.items() if missing}
    if not lacking:
        return Verdict(check, host, True, amount(len(sets), "data set"))
    named = [f"{name} lacks {', '.join(missing)}" for name, missing in lacking.items()][:_NAMED]
    more = len(lacking) - len(named)
    named += [f"and {more:,} more"] if more else []
    of_all = f"{len(lacking):,} of {amount(len(sets), 'data set')}: "
    return Verdict(check, host, False, of_all + "; ".join(named))
