"""The figures of a running harvest, and their display: live on a terminal, else as plain lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from semcrawl.terminal.messages import amount, plain_console

if TYPE_CHECKING:
    from rich.console import Console

#: figures whose sum is that of all processes
_ADDED = ("requests", "errors", "rdf_documents", "quads", "embedded_quads", "images")
_LABELS = ("R", "HR", "H", "N")
#: hosts shown as current
_HOSTS = 3


@dataclass
class Figures:
    """The figures of one process, or of several."""

    requests: int = 0
    #: requests that the run may send; ``None`` = no limit
    budget: int | None = None
    errors: int = 0
    rdf_documents: int = 0
    quads: int = 0
    embedded_quads: int = 0
    #: links that wait, by label
    waiting: Mapping[str, int] = field(default_factory=dict)
    #: hosts of the last answers, the latest first
    hosts: list[str] = field(default_factory=list)
    #: the address that is asked for now, or what else is done
    url: str = ""
    #: workers at work; 0 = a process by itself
    workers: int = 0
    #: images that were fetched to be kept, where they are targets
    images: int = 0

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """Read what :meth:`as_dict` gave."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})

    @classmethod
    def added(cls, parts: Iterable[Figures], budget: int | None = None) -> Self:
        """Add up the figures of several processes, the last of which knows best what waits.

        ``budget``: that of all together.
        """
        total = cls(budget=budget)
        for part in parts:
            for name in _ADDED:
                setattr(total, name, getattr(total, name) + getattr(part, name))
            total.waiting = part.waiting or total.waiting
            total.hosts += [host for host in part.hosts[:1] if host not in total.hosts]
            total.url = part.url or total.url
        return total

    def as_dict(self) -> dict[str, Any]:
        """Return the figures in a form that JSON can hold."""
        return asdict(self)

    def facts(self, seconds: float) -> dict[str, str]:
        """Return what is shown ``seconds`` after the beginning, by its name."""
        left = self._seconds_left(seconds)
        queue = " ".join(
            f"{name} {self.waiting[name]:,}" for name in _LABELS if self.waiting.get(name)
        )
        rate = self.rdf_documents / self.requests if self.requests else 0.0
        of_all = f" of {self.budget:,}" if self.budget else ""
        workers = {"workers": str(self.workers)} if self.workers else {}
        return {
            **workers,
            "requests": f"{self.requests:,}{of_all}",
            "errors": f"{self.errors:,}",
            "RDF found": f"{amount(self.rdf_documents, 'document')}, {amount(self.quads, 'quad')}",
            "embedded": amount(self.embedded_quads, "quad"),
            **({"images": f"{self.images:,}"} if self.images else {}),
            "harvest rate": f"{rate:.1%}",
            "waiting": queue or "nothing",
            "hosts": ", ".join(self.hosts[:_HOSTS]) or "none yet",
            "elapsed": _clock(seconds),
            "time left": "?" if left is None else _clock(left),
            "now": self.url or "waiting for the next",
        }

    def _seconds_left(self, seconds: float) -> float | None:
        """Return the time to the end of the budget, or of what waits, at the pace so far."""
        if not self.requests or not seconds:
            return None
        waiting = sum(self.waiting.values())
        left = waiting if self.budget is None else min(self.budget - self.requests, waiting)
        return max(0, left) * seconds / self.requests


class Display:
    """Shows figures on standard error, ``live`` or each time as a line.

    A context manager: what is live disappears at its end. Messages go above what is live.
    """

    def __init__(self, *, live: bool) -> None:
        self.is_live = live
        self._console: Console = plain_console(stderr=True)
        self._live: Any = None
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        """Begin to show."""
        if self.is_live:
            from rich.live import Live

            self._live = Live(console=self._console, refresh_per_second=4, transient=True)
            self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        """Show no more."""
        if self._live is not None:
            self._live.__exit__(*error)

    def show(self, figures: Figures) -> None:
        """Show the figures of this moment."""
        facts = figures.facts(time.monotonic() - self._began)
        if self._live is None:
            line = " | ".join(f"{name} {value}" for name, value in facts.items())
            print(line, file=sys.stderr, flush=True)
        else:
            self._live.update(_table(facts))

    def say(self, line: str) -> None:
        """Show a message."""
        if self._live is None:
            print(line, file=sys.stderr, flush=True)
        else:
            self._console.print(line, soft_wrap=True, highlight=False)


def _table(facts: Mapping[str, str]) -> Any:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis")  # a display of changing height flickers
    for name, value in facts.items():
        table.add_row(name, value)
    return table


def _clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))
