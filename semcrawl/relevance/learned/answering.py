"""Remembers which hosts answered, and estimates the chances of hosts named beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from semcrawl.relevance.learned.table import DONE, SILENT, Floats, LinkTable

#: factor by which a failure lowers the trust in a host that gave no document yet
_PER_FAILURE = 0.5
#: weight of the prior trust in a list, in hosts
_BELIEVED = 4
#: number of a host without a number
NO_HOST = np.iinfo(np.int32).max


class AnsweringHosts:
    """Remembers which hosts ever answered, and how often the others failed, by number.

    Many links of a site lead to hosts that are gone or exclude robots. Their failures say nothing
    about the features of good links.

    They say something about the other hosts that the same site names in the same place, a *list*.
    The trust in a host that was never asked is the share of its list's hosts that answered. The
    prior trust in a list comes from the other lists of its site.
    """

    def __init__(self) -> None:
        self._answering: set[int] = set()
        #: share of their worth that a host's links keep; the last element is for all other hosts
        self._trust: Floats = np.ones(1, np.float32)
        #: list number of each host, 0 for none; the last element is for all other hosts
        self._list_of: NDArray[np.int32] = np.zeros(1, np.int32)
        #: list numbers by name; for each list its site (a list too; 0 for a site itself), and the
        #: numbers of its hosts that answered and failed
        self._lists: dict[str, int] = {"": 0}
        self._site_of, self._answers, self._failures = [0], [0], [0]
        #: trust in the hosts of each list; ``None`` if it must be computed again
        self._list_trust: Floats | None = None

    @property
    def doubtful(self) -> bool:
        """Whether some host failed before it ever answered."""
        return len(self._trust) > 1

    def __len__(self) -> int:
        """Return the number of hosts that ever answered."""
        return len(self._answering)

    def named(self, hosts: Iterable[tuple[int, str]], known: int) -> None:
        """Note that lists (``site place``) name hosts; host numbers below ``known`` are not new.

        A host that several lists name belongs to the most trusted one.
        """
        for host, name in dict.fromkeys(hosts):
            if name and host not in self._answering:
                self._name(host, name, new=host >= known)

    def answered(self, host: int) -> None:
        """Note that a host gave a document, or redirected to one."""
        if host not in self._answering:
            self._answering.add(host)
            failed = host < len(self._trust) - 1 and self._trust[host] < 1
            self._count(host, answers=1, failures=-1 if failed else 0)
            if host < len(self._list_of) - 1:
                self._list_of[host] = 0
            if host < len(self._trust) - 1:
                self._trust[host] = 1

    def failed(self, host: int) -> bool:
        """Note a failed request; return whether the host ever answered."""
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
        """Return the share of their worth that links on each of these hosts keep, 0 to 1."""
        own: Floats = self._trust.take(hosts, mode="clip")
        return own * self._trusts().take(self._list_of.take(hosts, mode="clip"))

    def trust_as_named(self, hosts: NDArray[np.integer], names: Sequence[str]) -> Floats:
        """Return the same, with the trust in a list, given by name, for an unknown host."""
        trust = self.trust(hosts)
        for place in np.flatnonzero(hosts == NO_HOST).tolist():
            trust[place] = self._trusts()[self._number(names[place])]
        return trust

    def reasons(self, host: int, name: str) -> tuple[float, float]:
        """Return the two factors of the trust in a host: its own, and its list's."""
        own = float(self._trust.take(host, mode="clip"))
        known = int(self._list_of.take(host, mode="clip"))
        return own, self._trusted(self._number(name) if host == NO_HOST else known)

    def keep(self, hosts: NDArray[np.integer]) -> None:
        """Forget all hosts but these, which get new numbers in this order, and all other lists."""
        numbers = {host: number for number, host in enumerate(hosts.tolist())}
        self._answering = {numbers[host] for host in self._answering if host in numbers}
        if self.doubtful:
            self._trust = np.append(self._trust.take(hosts, mode="clip"), np.float32(1))
        list_of = np.append(self._list_of.take(hosts, mode="clip"), np.int32(0))
        named = np.unique(list_of)
        lists = np.unique(np.append(named, [self._site_of[number] for number in named.tolist()]))
        self._list_of = np.searchsorted(lists, list_of).astype(np.int32)
        names, kept = list(self._lists), lists.tolist()
        self._lists = {names[number]: at for at, number in enumerate(kept)}
        self._site_of = np.searchsorted(lists, [self._site_of[number] for number in kept]).tolist()
        self._answers = [self._answers[number] for number in kept]
        self._failures = [self._failures[number] for number in kept]
        self._list_trust = None

    def state(self) -> dict[str, Any]:
        """Return everything, for :meth:`restored`."""
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
        """Restore the result of :meth:`state`; earlier versions had no lists."""
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
        """Derive it from the outcomes of a table's links."""
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
        """Return the number of a list, else of its site, else 0."""
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
            self._list_trust = None
        return number

    def _count(self, host: int, *, answers: int = 0, failures: int = 0) -> None:
        """Count answers and failures of a host for its list and the list's site."""
        number = int(self._list_of.take(host, mode="clip"))
        while number:
            self._answers[number] += answers
            self._failures[number] += failures
            number = self._site_of[number]
            self._list_trust = None

    def _trusted(self, number: int) -> float:
        return float(self._trusts()[number])

    def _trusts(self) -> Floats:
        """Return the trust in the hosts of each list, cached."""
        if self._list_trust is None:
            sites = np.array(self._site_of)
            answers, failures = np.array(self._answers), np.array(self._failures)
            # the prior of a list: the share of its site's other lists
            beside = np.where(sites, answers[sites] - answers, 0)
            lost = np.where(sites, failures[sites] - failures, 0)
            believed = (beside + _BELIEVED) / (beside + lost + _BELIEVED)
            total = answers + failures + _BELIEVED
            trust: Floats = ((answers + _BELIEVED * believed) / total).astype(np.float32)
            self._list_trust = trust
        return self._list_trust
