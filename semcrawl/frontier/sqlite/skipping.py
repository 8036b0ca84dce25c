"""Hosts that a take skips."""

from __future__ import annotations

from collections.abc import Sequence

from semcrawl.frontier.contract import SkippedHosts
from semcrawl.frontier.sqlite.availability import untried
from semcrawl.frontier.sqlite.transaction import Transaction


class Skip:
    """Tells which hosts to skip, by a call or as an SQL condition on the table ``host``.

    ``sql``, with ``values``, is true for hosts that are not skipped. Within a transaction, it may
    still count a host as untried that has just given something.
    """

    def __init__(self, t: Transaction, skip: SkippedHosts) -> None:
        self._t = t
        self._untried = skip.untried
        self.domains: Sequence[str] = list(skip.domains)

    def __call__(self, host: int) -> bool:
        """Whether a host is skipped."""
        return (self._untried and untried(self._t.host(host))) or self.in_domains(host)

    def in_domains(self, host: int) -> bool:
        """Whether a host is in one of the domains to skip."""
        full = self._t.host_name(host)
        name, colon, port = full.rpartition(":")
        bare = name if colon and port.isdigit() else full
        return any(bare == d or bare.endswith("." + d) for d in self.domains)

    @property
    def sql(self) -> str:
        """The SQL condition."""
        name = "'.' || CAST(host.name AS TEXT)"
        parts = ["host.good IS NOT NULL"] if self._untried else []
        parts += [f"{name} NOT LIKE ? AND {name} NOT LIKE ?" for _ in self.domains]
        return " AND ".join(parts) or "1"

    @property
    def values(self) -> list[str]:
        """The parameters of the condition."""
        return [f"%.{domain}{port}" for domain in self.domains for port in ("", ":%")]
