"""The thesis's best-first crawlers: ``rules`` (FC-R) and ``rules-parents`` (FC-R+HR), T.2-T.7."""

from __future__ import annotations

import json

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome
from semcrawl.relevance.parents import KnownParents, Shape, shape_of
from semcrawl.relevance.strategy import RuleOptions, Strategy, state_error

#: values of the labels: minus T.4's priorities, so that larger is better
_R, _HR, _H = -1.0, -2.0, -3.0


class Rules(Strategy):
    """FC-R: links that a rule of T.2 speaks for come first."""

    name = "rules"

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Group by label."""
        if label is Label.R:
            self.set_value("R", _R)
            return "R", 0.0
        self.set_value("H", _H)
        return "H", 0.0


class RulesParents(Strategy):
    """FC-R+HR: between R and H come links that look like known parents of RDF.

    With ``promote_waiting`` each shape of path has its own group of H links, whose value rises to
    that of HR when a parent of that shape is learned.
    """

    name = "rules-parents"

    def __init__(self, options: RuleOptions | None = None) -> None:
        super().__init__(options)
        self._parents = KnownParents()

    def label(self, page: Page, link: Link) -> tuple[Label, tuple[str, ...]]:
        """Ask Relevancy_R, and for H links Relevancy_HR (T.4)."""
        label, rules = super().label(page, link)
        if label is Label.H and not page.rdf:
            held = self._parents.rules(link.url)
            if held:
                return Label.HR, held
        return label, rules

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Group by label; H links by shape where they may be promoted."""
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
        if self._parents.add(outcome.parent) and self.options.promote_waiting:
            self._promote(outcome.parent)

    def worth_telling(self, outcome: Outcome) -> bool:
        """Only a parent of RDF teaches anything."""
        return outcome.wanted

    def _promote(self, parent: str) -> None:
        shape = shape_of(parent)
        if shape is not None:
            # (another worker may have put links there)
            self.set_value(_shape_group(shape), _HR)

    def dump_state(self) -> bytes:
        """Return the known parents and the groups' values."""
        return json.dumps(
            {"strategy": self.name, "parents": list(self._parents), "values": self._values}
        ).encode()

    def load_state(self, state: bytes) -> None:
        """Go on with the known parents."""
        try:
            data = json.loads(state)
            parents = [(str(host), tuple(map(str, path))) for host, path in data["parents"]]
            values = {str(group): float(value) for group, value in data["values"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise state_error(self.name) from error
        for host, path in parents:
            self._parents.add_address(host, path)
        self._values.update(values)
        self._changed.update(values)


def _shape_group(shape: Shape) -> str:
    host, folders = shape
    return f"H {host}/{'/'.join(folders)}/"
