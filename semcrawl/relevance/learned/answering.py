"""Which hosts answer: links to one that never did are believed to be worth less and less.

To answer is to give a document of any kind, or to lead to one; an error status is no answer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from semcrawl.relevance.learned.model import Floats
from semcrawl.relevance.learned.table import DONE, SILENT, LinkTable

#: by what a failure lowers the trust in a host that gave no document yet
_PER_FAILURE = 0.5
#: number that stands for a host without one
NO_HOST = np.iinfo(np.int32).max


class AnsweringHosts:
    """Remembers by number which hosts ever answered, and how often the others failed.

    On most sites many links lead elsewhere, to hosts that are long gone or keep robots out. Their
    failures say nothing of how good links look.
    """

    def __init__(self) -> None:
        self._answering: set[int] = set()
        #: share of what links are worth that is left; the last element is that of any other host
        self._trust: Floats = np.ones(1, np.float32)

    @property
    def doubtful(self) -> bool:
        """Whether some host failed before it ever answered."""
        return len(self._trust) > 1

    def __len__(self) -> int:
        """How many hosts ever answered."""
        return len(self._answering)

    def answered(self, host: int) -> None:
        """Note that a host gave a document, or led to one."""
        if host not in self._answering:
            self._answering.add(host)
            if host < len(self._trust) - 1:
                self._trust[host] = 1

    def failed(self, host: int) -> bool:
        """Note that a request came to nothing; return whether the host ever answered."""
        if host in self._answering:
            return True
        missing = host + 2 - len(self._trust)
        if missing > 0:
            self._trust = np.concatenate((self._trust, np.ones(host + missing, np.float32)))
        self._trust[host] *= _PER_FAILURE
        return False

    def trust(self, hosts: NDArray[np.integer]) -> Floats:
        """Return the share of their worth that links on these hosts keep, 0 to 1."""
        result: Floats = self._trust.take(hosts, mode="clip")
        return result

    def state(self) -> tuple[NDArray[np.int64], Floats]:
        """The hosts that answered, and the trust in all, for :meth:`restored`."""
        return np.array(sorted(self._answering), np.int64), self._trust

    @classmethod
    def restored(cls, answering: NDArray[np.int64], trust: Floats) -> AnsweringHosts:
        """Take over what :meth:`state` gave."""
        found = cls()
        found._answering, found._trust = set(answering.tolist()), trust.copy()
        return found

    @classmethod
    def of(cls, table: LinkTable) -> AnsweringHosts:
        """Tell from what became of the links of a table."""
        found = cls()
        done = table["state"] == DONE
        silent = (table["flags"] & SILENT) > 0
        for host in np.unique(table["host"][done & ~silent]).tolist():
            found.answered(host)
        for host in table["host"][done & silent].tolist():
            found.failed(host)
        return found
