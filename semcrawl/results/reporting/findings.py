"""What a report holds: findings, verdicts on hosts, documents, changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from semcrawl.metadata.history import Changes
from semcrawl.results.reporting.checklist import CHECKS, Area, Check
from semcrawl.web.hosts import netloc_of

#: most pages named that lead to a finding's subject
MOST_PAGES = 200


@dataclass(slots=True)
class Finding:
    """One fault of one address."""

    #: name of the check (:data:`semcrawl.results.reporting.checklist.CHECKS`)
    check: str
    #: the address or the term that it is about
    subject: str
    #: the host, with port, that can mend it or whose data it is about
    host: str
    #: what is wrong with this one, for people
    reason: str
    #: where else it shows: an address that redirects there, the answer's media type
    evidence: str = ""
    #: pages and documents that lead there, at most :data:`MOST_PAGES`
    pages: list[str] = field(default_factory=list)
    #: number of these, those that are not named among them
    page_count: int = 0
    #: line and column, from 1; 0 = unknown
    line: int = 0
    column: int = 0

    @property
    def of(self) -> Check:
        """The check."""
        return CHECKS[self.check]

    def lead(self, pages: Iterable[str]) -> None:
        """Add pages that lead to the subject."""
        known = set(self.pages)
        for page in pages:
            if page in known:
                continue
            self.page_count += 1
            if len(self.pages) < MOST_PAGES:
                known.add(page)
                self.pages.append(page)

    def as_dict(self) -> dict[str, Any]:
        """Return it as ``report --json`` prints it, with what to do."""
        return {
            "area": str(self.of.area),
            "check": self.check,
            "host": self.host,
            "subject": self.subject,
            "reason": self.reason,
            "evidence": self.evidence,
            "line": self.line or None,
            "column": self.column or None,
            "pages": self.pages,
            "page_count": self.page_count,
            "advice": self.of.advice,
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a host passes a check of :attr:`Area.FINDABLE`."""

    check: str
    host: str
    #: ``None``: it could not be judged
    passed: bool | None
    evidence: str

    @property
    def word(self) -> str:
        """``passed``, ``failed`` or ``untested``, as EARL names them."""
        return {True: "passed", False: "failed", None: "untested"}[self.passed]

    def as_dict(self) -> dict[str, Any]:
        """Return it as ``report --json`` prints it."""
        return {
            "check": self.check,
            "host": self.host,
            "outcome": self.word,
            "evidence": self.evidence,
            "advice": "" if self.passed else CHECKS[self.check].advice,
        }


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """An RDF document, or a page with data."""

    url: str
    #: the syntax; ``embedded`` for a page
    syntax: str
    statements: int
    errors: int
    #: the page that led to it; empty for a seed
    page: str
    found_by: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as ``report --json`` prints it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class HostSums:
    """The sums of a host."""

    documents: int = 0
    statements: int = 0
    findings: Counter[Area] = field(default_factory=Counter)


@dataclass(slots=True)
class Report:
    """All that a report tells."""

    name: str
    documents: list[ReadDocument] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    #: what became of the documents since a moment; ``None``: it is not known since when
    changes: Changes | None = None
    #: the areas that were judged, in order
    areas: list[Area] = field(default_factory=lambda: [a for a in Area if a is not Area.INVALID])
    #: what this report does not judge, and why
    not_judged: list[str] = field(default_factory=list)

    def of(self, area: Area) -> list[Finding]:
        """Return the findings of an area."""
        return [finding for finding in self.findings if finding.of.area is area]

    def counts(self) -> Counter[Area]:
        """Count the findings by area."""
        return Counter(finding.of.area for finding in self.findings)

    def per_host(self) -> dict[str, HostSums]:
        """Return the sums of each host, those with most findings first."""
        hosts: dict[str, HostSums] = {}
        for document in self.documents:
            sums = hosts.setdefault(netloc_of(document.url), HostSums())
            sums.documents += 1
            sums.statements += document.statements
        for finding in self.findings:
            hosts.setdefault(finding.host, HostSums()).findings[finding.of.area] += 1
        order = sorted(hosts, key=lambda host: (-hosts[host].findings.total(), host))
        return {host: hosts[host] for host in order}

    def as_dict(self) -> dict[str, Any]:
        """Return what ``report --json`` prints."""
        counts = self.counts()
        return {
            "job": self.name,
            "counts": {str(area): counts[area] for area in self.areas},
            "documents": [document.as_dict() for document in self.documents],
            "findings": [finding.as_dict() for finding in self.findings],
            "hosts": [verdict.as_dict() for verdict in self.verdicts],
            "checks": {
                name: {
                    "title": check.title,
                    "how": check.how,
                    "sources": [
                        {"name": source.name, "url": source.url} for source in check.sources
                    ],
                }
                for name, check in CHECKS.items()
            },
            "changes": self.changes.as_dict() if self.changes else None,
            "not_judged": self.not_judged,
        }
