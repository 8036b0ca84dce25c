"""Which hosts ever answered, and what that says of the others that were named beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from semcrawl.relevance.learned.table import DONE, SILENT, Floats, LinkTable

#: by what a failure lowers the trust in a host that gave no document yet
_PER_FAILURE = 0.5
#: hosts that a list is believed to have named well before any of them is asked
_BELIEVED = 4
#: number of a host that has none
NO_HOST = np.iinfo(np.int32).max


class AnsweringHosts:
    """Remembers by number which hosts ever answered, and how often the others failed.

    On most sites many links lead elsewhere, to hosts that are long gone or keep robots out. Their
    failures say nothing of how good links look.

    They say something of the other hosts that the same site names in the same place, its *list*:
    a host that was never asked is trusted as much as those of its list answered, which is trusted
    at first as much as all lists of its site.
    """

    def __init__(self) -> None:
        self._answering: set[int] = set()
        #: share of what links are worth that is left; the last element is that of any other host
        self._trust: Floats = np.ones(1, np.float32)
        #: number of the list of each host, 0 for none; the last element is that of any other host
        self._list_of: NDArray[np.int32] = np.zeros(1, np.int32)
        #: lists by name, and of each: its site (a list too; 0 for a site), and how many of its
        #: hosts answered and failed
        self._lists: dict[str, int] = {"": 0}
        self._site_of, self._answers, self._failures = [0], [0], [0]
        #: trust in each list's hosts, unless it has to be computed again
        self._faith: Floats | None = None

    @property
    def doubtful(self) -> bool:
        """Whether some host failed before it ever answered."""
        return len(self._trust) > 1

    def __len__(self) -> int:
        """How many hosts ever answered."""
        return len(self._answering)

    def named(self, hosts: Iterable[tuple[int, str]], known: int) -> None:
        """Note that lists (``site place``) name hosts; the first ``known`` were named before.

        A host that several lists name is of the one that is trusted most.
        """
        for host, name in dict.fromkeys(hosts):
            if name and host not in self._answering:
                self._name(host, name, new=host >= known)

    def answered(self, host: int) -> None:
        """Note that a host gave a document, or led to one."""
        if host not in self._answering:
            self._answering.add(host)
            failed = host < len(self._trust) - 1 and self._trust[host] < 1
            self._count(host, answers=1, failures=-1 if failed else 0)
            if host < len(self._list_of) - 1:
                self._list_of[host] = 0
            if host < len(self._trust) - 1:
                self._trust[host] = 1

    def failed(self, host: int) -> bool:
        """Note that a request came to nothing; return whether the host ever answered."""
        if host in self._answering:
            return True
        missing = host + 2 - len(self._trust)
        if missing > 0:
            self._trust = np.concatenate((self._trust, np.ones(host + missing, np.float32)))
        if self._trust[host] == 1:
            self._count(host, failures=1)
        self._trust[host] *= _PER_FAILURE
        return False

    def trust(self, hosts: NDArray[np.integer]) -> Floats:
        """Return the share of their worth that links on these hosts keep, 0 to 1."""
        own: Floats = self._trust.take(hosts, mode="clip")
        return own * self._trusts().take(self._list_of.take(hosts, mode="clip"))

    def trust_as_named(self, hosts: NDArray[np.integer], names: Sequence[str]) -> Floats:
        """Return the same; a host never heard of is trusted as its list is, given by name."""
        trust = self.trust(hosts)
        for place in np.flatnonzero(hosts == NO_HOST).tolist():
            trust[place] = self._trusts()[self._number(names[place])]
        return trust

    def reasons(self, host: int, name: str) -> tuple[float, float]:
        """Return the two factors of the trust in a host: by itself, and by its list."""
        own = float(self._trust.take(host, mode="clip"))
        known = int(self._list_of.take(host, mode="clip"))
        return own, self._trusted(self._number(name) if host == NO_HOST else known)

    def state(self) -> dict[str, Any]:
        """Everything, for :meth:`restored`."""
        counts = (self._site_of, self._answers, self._failures)
        return {
            "answering": np.array(sorted(self._answering), np.int64),
            "trust": self._trust,
            "lists": list(self._lists),
            "list_of": self._list_of,
            "list_counts": np.array(counts, np.int64),
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Self:
        """Take over what :meth:`state` gave; earlier versions knew of no lists."""
        found = cls()
        found._answering, found._trust = set(state["answering"].tolist()), state["trust"].copy()
        if "lists" in state:
            found._lists = {name: number for number, name in enumerate(state["lists"])}
            found._list_of = state["list_of"].copy()
            found._site_of, found._answers, found._failures = state["list_counts"].tolist()
            lengths = {len(found._lists), len(found._site_of), len(found._answers)}
            if len(lengths) > 1 or found._list_of.max(initial=0) >= len(found._lists):
                raise ValueError("lists and their counts are not of the same number")
        return found

    @classmethod
    def of(cls, table: LinkTable) -> Self:
        """Tell from what became of the links of a table."""
        found = cls()
        done = table["state"] == DONE
        silent = (table["flags"] & SILENT) > 0
        for host in np.unique(table["host"][done & ~silent]).tolist():
            found.answered(host)
        for host in table["host"][done & silent].tolist():
            found.failed(host)
        return found

    def _name(self, host: int, name: str, *, new: bool) -> None:
        if not new and not self._list_of.take(host, mode="clip"):
            return
        number = self._list(name)
        if host + 2 > len(self._list_of):
            more = np.zeros(host + 2, np.int32)
            more[: len(self._list_of) - 1] = self._list_of[:-1]
            self._list_of = more
        if new or (self.doubtful and self._trusted(number) > self._trusted(self._list_of[host])):
            self._list_of[host] = number

    def _number(self, name: str) -> int:
        """Return the number of a list, or of its site if nothing is known of it, or 0."""
        number = self._lists.get(name)
        return self._lists.get(name.partition(" ")[0], 0) if number is None else number

    def _list(self, name: str) -> int:
        """Return the number of a list; a new one if it has none."""
        number = self._lists.get(name)
        if number is None:
            site = name.partition(" ")[0]
            above = self._list(site) if site != name else 0
            number = self._lists[name] = len(self._lists)
            self._site_of.append(above)
            self._answers.append(0)
            self._failures.append(0)
            self._faith = None
        return number

    def _count(self, host: int, *, answers: int = 0, failures: int = 0) -> None:
        """Count what came of a host for its list, and for the list's site."""
        number = int(self._list_of.take(host, mode="clip"))
        while number:
            self._answers[number] += answers
            self._failures[number] += failures
            number = self._site_of[number]
            self._faith = None

    def _trusted(self, number: int) -> float:
        return float(self._trusts()[number])

    def _trusts(self) -> Floats:
        """Return the trust in the hosts of each list."""
        if self._faith is None:
            sites = np.array(self._site_of)
            answers, failures = np.array(self._answers), np.array(self._failures)
            # (by what its site's other lists are worth, as far as it is not known itself)
            beside = np.where(sites, answers[sites] - answers, 0)
            lost = np.where(sites, failures[sites] - failures, 0)
            believed = (beside + _BELIEVED) / (beside + lost + _BELIEVED)
            total = answers + failures + _BELIEVED
            faith: Floats = ((answers + _BELIEVED * believed) / total).astype(np.float32)
            self._faith = faith
        return self._faith
