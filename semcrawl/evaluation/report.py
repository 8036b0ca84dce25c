"""Writes ``report.html``: the results as one page without scripts or external files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from semcrawl.evaluation import studytables, tables
from semcrawl.evaluation.charts import Bars, Line, bar_chart, legend, line_chart
from semcrawl.evaluation.references import REFERENCES
from semcrawl.evaluation.thesis import figures as thesis
from semcrawl.relevance import strategies

Data = Mapping[str, Any]
#: the strategies compared most often, whose lines are the easiest to tell apart
_FIRST = ("learned", "rules-parents")


def report_page(results: Data) -> str:
    """Return the page of the data in ``results.json``."""
    page = _Page(results)
    template = Template(files("semcrawl.evaluation").joinpath("report.html").read_text("utf-8"))
    names = ", ".join(each["name"] for each in results["sets"])
    return template.substitute(title=escape(f"semcrawl evaluate: {names}"), body=page.body())


class _Page:
    """Builds the page."""

    def __init__(self, results: Data) -> None:
        self.results = results
        self.titles = {each["name"]: each["title"] for each in results["strategies"]}
        crawlers = [name for name in self.titles if name not in REFERENCES]
        # the same strategy looks the same in every report
        known = [*_FIRST, *(name for name in strategies() if name not in _FIRST)]
        others = [name for name in crawlers if name not in known]
        self.styles = {name: number for number, name in enumerate([*known, *others])}

    def title(self, name: str) -> str:
        """Return a strategy's name, with its name in the thesis if there is one."""
        short = self.titles.get(name, name)
        return name if short == name else f"{short} ({name})"

    def body(self) -> str:
        """Return the content of the body element."""
        results = self.results
        runs = max((each.get("repeat", 1) for each in results["sets"]), default=1)
        parts = [
            "<h1>What each strategy finds</h1>",
            f'<p class="note">semcrawl {escape(str(results["semcrawl"]))}, '
            f"{escape(results['mode'])} runs, seed {results['seed']}"
            f"{f' and the next {runs - 1}' if runs > 1 else ''}. "
            "Areas are relative to a crawler that knows the whole link graph "
            "(<em>omniscient</em>). ± is one standard deviation over seeds or worlds.</p>",
        ]
        if len(results["sets"]) > 1:
            links = "".join(
                f'<a href="#set{n}">{escape(each["name"])}</a>'
                for n, each in enumerate(results["sets"])
            )
            parts.append(f"<nav>{links}</nav>")
        for number, each in enumerate(results["sets"]):
            parts.append(f'<h2 id="set{number}">{escape(each["name"])}</h2>')
            parts.append(self.set(each))
        return "\n".join(parts)

    def set(self, data: Data) -> str:
        """Return the section of a set of worlds."""
        parts = [
            f'<p class="problem">{escape(world["name"])}: {escape(world["problem"])}</p>'
            for world in data["worlds"]
            if world["problem"]
        ]
        if data["strategies"] and data["thesis"]:
            parts.append(
                '<p class="note">The thesis’s own figures, where they stand beside ours, are of '
                "2,000 requests to each domain; its rules and means are of all four domains.</p>"
            )
        if data["strategies"]:
            most = max(data["requests"], default=0)
            parts.append(f'<p class="note">At most {most:,} requests to each world.</p>')
            parts.append(self.harvest(data))
            parts.append(tables.of_the_thesis(data))
            parts.append(studytables.steps(data, self.title))
            parts.append(studytables.keywords(data))
            parts.append(studytables.kept(data, self.title))
            parts.append(studytables.measured(data))
            parts.append(tables.side_by_side(data, self.title))
            parts.append(tables.found(data, self.title))
            parts.append(self.curves(data))
            parts.append(tables.labels(data, self.title))
            parts.append(self.rules(data))
            parts.append(tables.depths(data, self.title))
            parts.append(tables.merged(data))
            parts.append(tables.comparisons(data, self.title))
        return "\n".join(part for part in parts if part)

    def harvest(self, data: Data) -> str:
        """Return Figure 4-2: harvest rates averaged over the worlds."""
        lines = self._lines(
            data["strategies"],
            lambda figures: [
                (x, 100 * y)
                for x, y in zip(data["requests"], figures.get("harvest_curve", ()), strict=False)
                if y is not None
            ],
        )
        lines = [line for line in lines if not line.reference]
        count = len(data["worlds"])
        over = f", mean of {count} worlds" if count > 1 else ""
        return _figure(
            line_chart("Harvest rate", lines, "requests", "targets per 100 requests"),
            legend(lines),
            f"Harvest rate{over}: targets found per 100 requests"
            f"{tables.place_in_thesis(data, 'Figure 4-2')}.",
            "Harvest rate",
        )

    def curves(self, data: Data) -> str:
        """Return the charts of targets over requests, one per world."""
        charts, key = [], ""
        for world in data["worlds"]:
            points = world["requests"]
            lines = self._lines(
                world["strategies"],
                lambda figures, points=points: list(  # type: ignore[misc]
                    zip(points, figures.get("curve", ()), strict=False)
                ),
            )
            if not lines:
                continue
            if not any(line.reference for line in lines):
                curve = list(zip(points, world["bound"]["curve"], strict=True))
                lines.append(Line("omniscient", 0, curve, reference=True))
            name = escape(world["name"])
            charts.append(
                "<figure>"
                + line_chart(f"Targets found on {world['name']}", lines, "requests", "targets")
                + f"<figcaption>{name}: {world['targets']:,} targets, {world['html']:,} pages, "
                f"{world['parents']:,} of them parents.</figcaption></figure>"
            )
            key = key if key.count("<li>") >= len(lines) else legend(lines)
        if not charts:
            return ""
        return f'<h3>Targets found</h3>{key}<div class="grid2">{"".join(charts)}</div>'

    def rules(self, data: Data) -> str:
        """Return Figure 4-1: support and confidence of every rule, best strategy first."""
        charts = []
        order = sorted(
            data["strategies"].items(),
            key=lambda item: (item[0] != "rules-parents", -(item[1].get("found") or 0)),
        )
        for name, figures in order:
            rules = figures.get("rules") or {}
            if not rules:
                continue
            reported = thesis.RULES if data["thesis"] and name == "rules-parents" else {}
            names = [
                *thesis.RULES,
                *(rule for rule in rules if rule not in thesis.RULES),
            ]
            rows = [
                Bars(
                    rule,
                    100 * (rules.get(rule, {}).get("support") or 0),
                    100 * (rules.get(rule, {}).get("confidence") or 0),
                    reported[rule].support if rule in reported else None,
                    reported[rule].confidence if rule in reported else None,
                )
                for rule in names
                if rule in rules or rule in reported
            ]
            marks = " Upright marks: as the thesis reports them." if reported else ""
            charts.append(
                "<figure>"
                + bar_chart(f"Rules of {self.title(name)}", rows, "support", "confidence")
                + f"<figcaption>{escape(self.title(name))}: "
                '<span class="s0">■</span> support and <span class="s1">■</span> confidence'
                f" of each rule{tables.place_in_thesis(data, 'Figure 4-1')}.{marks}"
                "</figcaption></figure>"
            )
        if not charts:
            return ""
        rest = ""
        if charts[1:]:
            rest = (
                f"<details><summary>Rules of {len(charts) - 1} other strategies</summary>"
                f'<div class="grid2">{"".join(charts[1:])}</div></details>'
            )
        return f"<h3>Rules</h3>{charts[0]}{rest}"

    def _lines(
        self, strategies: Data, points: Callable[[Data], Sequence[tuple[float, float]]]
    ) -> list[Line]:
        """Return a line per strategy that has points."""
        lines = []
        for name, figures in strategies.items():
            found = points(figures)
            if found:
                style = self.styles.get(name, 0)
                reference = name in REFERENCES
                lines.append(Line(self.title(name), style, found, reference=reference))
        return lines


def _figure(chart: str, key: str, caption: str, heading: str) -> str:
    return (
        f"<h3>{escape(heading)}</h3><figure>{chart}{key}"
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
