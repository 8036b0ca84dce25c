"""The requests of a simulated run, as they are written down."""

from __future__ import annotations

from semcrawl.evaluation.graph import IsTarget
from semcrawl.evaluation.nodes import Node
from semcrawl.evaluation.queue import Waiting
from semcrawl.evaluation.run import Fetch, Run
from semcrawl.web.vocabulary import Kind


class RunNotes:
    """Writes requests into a run."""

    def __init__(self, run: Run, is_target: IsTarget) -> None:
        """Count as found what ``is_target`` says."""
        self._run = run
        self._is_target = is_target
        self._targets: set[str] = set()
        self._said: set[int] = set()

    def add(
        self, waiting: Waiting, node: Node, kind: Kind | None, *, kept: bool, filtered: bool
    ) -> None:
        """Write a request down; ``kept``: the crawl takes the answer for a target."""
        run, new = self._run, False
        if kind is Kind.RDF:
            self._said.update(node.statements)
            run.statements = len(self._said)
        if kind is not None and self._is_target(node):
            document = node.answer.document or waiting.url
            new = document not in self._targets
            self._targets.add(document)
        run.fetches.append(
            Fetch(
                url=waiting.url,
                asked=waiting.asked,
                status=node.answer.status,
                kind=kind,
                label=waiting.label,
                rules=waiting.rules,
                parent=waiting.parent,
                depth=waiting.depth,
                new_target=new,
                kept=kept,
                filtered=filtered,
                found_by=waiting.found_by,
            )
        )
        run.curve.append(len(self._targets))
