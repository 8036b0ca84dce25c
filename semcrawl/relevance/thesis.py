"""The thesis's best-first crawlers: ``rules`` (FC-R) and ``rules-parents`` (FC-R+HR), T.2-T.7."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import urlsplit

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome
from semcrawl.relevance.strategy import RuleOptions, Strategy, reading_state
from semcrawl.web.urls import segments

#: a shape: host and folders of pages that differ only in their last path segment
Shape = tuple[str, tuple[str, ...]]
#: values of the labels: T.4's priorities negated, as larger is better here
_R, _HR, _H = -1.0, -2.0, -3.0


@lru_cache(maxsize=4096)
def address_of(url: str) -> tuple[str, tuple[str, ...]]:
    """Return host (with port) and path segments of a normalised URL."""
    parts = urlsplit(url)
    return parts.netloc, segments(parts.path)


def shape_of(url: str) -> Shape | None:
    """Return the shape that pages must share for r1 to hold; ``None`` if r1 never holds.

    r1 needs n > 1 segments, so pages directly below the root have no shape.
    """
    host, path = address_of(url)
    return (host, path[:-1]) if len(path) > 1 else None


class KnownParents:
    """C_HR(t): hosts and paths of the known parents of RDF.

    A lookup takes constant time: by T.3, r1 compares all segments but the last, and r2 the whole
    path.
    """

    def __init__(self, parents: Iterable[str] = ()) -> None:
        self._last_names: dict[Shape, set[str]] = {}
        self._addresses: dict[tuple[str, tuple[str, ...]], None] = {}
        for url in parents:
            self.add(url)

    def __len__(self) -> int:
        return len(self._addresses)

    def __iter__(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Host and path segments of each parent, in the order they were learned."""
        return iter(self._addresses)

    def add(self, url: str) -> bool:
        """Add a parent's URL; return whether it was new."""
        return self.add_address(*address_of(url))

    def add_address(self, host: str, path: tuple[str, ...]) -> bool:
        """Add a parent by host and path segments; return whether it was new."""
        if (host, path) in self._addresses:
            return False
        self._addresses[host, path] = None
        if len(path) > 1:
            self._last_names.setdefault((host, path[:-1]), set()).add(path[-1])
        return True

    def knows_shape(self, shape: Shape) -> bool:
        """Whether some parent has this shape."""
        return shape in self._last_names

    def rules(self, url: str) -> tuple[str, ...]:
        """Return those of r1 and r2 that hold between a URL and some known parent."""
        host, path = address_of(url)
        held = []
        if len(path) > 1:
            names = self._last_names.get((host, path[:-1]), ())
            if len(names) > (path[-1] in names):
                held.append("r1")
        if (host, path) in self._addresses:
            held.append("r2")
        return tuple(held)


class Rules(Strategy):
    """FC-R: links for which a rule of T.2 holds come first."""

    name = "rules"

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Group by label."""
        if label is Label.R:
            self.set_value("R", _R)
            return "R", 0.0
        self.set_value("H", _H)
        return "H", 0.0


class RulesParents(Strategy):
    """FC-R+HR: links similar to known parents of RDF come between R and H.

    With ``promote_waiting`` each shape has its own group of H links. Its value rises to that of HR
    when a parent of that shape is learned.
    """

    name = "rules-parents"

    def __init__(self, options: RuleOptions | None = None) -> None:
        super().__init__(options)
        self._parents = KnownParents()

    def label(self, page: Page, link: Link) -> tuple[Label, tuple[str, ...]]:
        """Label by Relevancy_R, and H links by Relevancy_HR (T.4)."""
        label, rules = super().label(page, link)
        if label is Label.H and not page.rdf:
            held = self._parents.rules(link.url)
            if held:
                return Label.HR, held
        return label, rules

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Group by label, and H links by shape if they may be promoted."""
        if label is Label.R:
            self.set_value("R", _R)
            return "R", 0.0
        if label is Label.HR:
            self.set_value("HR", _HR)
            return "HR", 0.0
        shape = shape_of(link.url) if self.options.promote_waiting else None
        if shape is None:
            self.set_value("H", _H)
            return "H", 0.0
        group = _shape_group(shape)
        self.set_value(group, _HR if self._parents.knows_shape(shape) else _H)
        return group, 0.0

    def learn(self, outcome: Outcome) -> None:
        """Add the parent of a document that turned out to be RDF to C_HR(t) (T.5, step 3b)."""
        if not outcome.wanted or outcome.parent is None:
            return
        is_new, shape = self._parents.add(outcome.parent), shape_of(outcome.parent)
        if is_new and shape is not None and self.options.promote_waiting:
            # even if this worker knows no such group: another may have links in it
            self.set_value(_shape_group(shape), _HR)

    def worth_telling(self, outcome: Outcome) -> bool:
        """Whether the outcome makes its parent a parent of RDF."""
        return outcome.wanted

    def dump_state(self) -> bytes:
        """Return the known parents and the groups' values."""
        return self._as_json(parents=list(self._parents), values=self._values)

    def load_state(self, state: bytes) -> None:
        """Restore the known parents and the groups' values."""
        with reading_state(self.name):
            data = self._of_json(state)
            parents = [(str(host), tuple(map(str, path))) for host, path in data["parents"]]
            values = {str(group): float(value) for group, value in data["values"].items()}
        for host, path in parents:
            self._parents.add_address(host, path)
        self._values.update(values)
        self._changed.update(values)


def _shape_group(shape: Shape) -> str:
    host, folders = shape
    return f"H {host}/{'/'.join(folders)}/"
