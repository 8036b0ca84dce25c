"""The cells of the report's tables, out of results written by hand."""

from lxml import html

from semcrawl.lab import studytables


def title(name):
    return name.upper()


def spread(mean, deviation=0.0, count=1):
    return {"mean": mean, "deviation": deviation, "low": mean, "high": mean, "count": count}


ONE = {
    "errors": [],
    "found": spread(12),
    "auc_relative": spread(0.5),
    "requests_to_50": spread(1200),
    "requests_to_90": None,
    "link_microseconds": spread(10),
    "labels": {"R": {"predicted": 8, "fetched": 4, "right": 3, "precision": 0.75}},
    "depths": {"0": {"requests": 1, "targets": 0}, "2": {"requests": 9, "targets": 12}},
}
TWO = {
    "errors": ["seed 1: gone"],
    "found": spread(20, 1.5, 3),
    "auc_relative": None,
    "link_microseconds": spread(20),
    "labels": {"N": {"predicted": 2, "fetched": 0, "right": 0, "precision": None}},
}
DATA = {
    "thesis": False,
    "strategies": {
        "a": {
            "found": 32,
            "requests": 2000,
            "harvest_rate": 0.016,
            "auc_relative": spread(0.5, 0.25, 2),
            "precision": {"R": 0.75, "HR": None},
        },
        "b": {},
    },
    "worlds": [
        {"name": "x", "strategies": {"a": ONE}, "merged": {"success": 1500, "redirect": 20,
         "refused": 3, "error": 4, "targets": 12, "parents": 6}, "target_depths": {"2": 14}},
        {"name": "y", "strategies": {"a": TWO}, "merged": {}, "target_depths": {"1": 5}},
    ],
    "comparisons": [
        {"first": "a", "second": "b", "pairs": 2, "difference": 0.25, "low": -0.5, "high": 0.75,
         "wins": 1, "ties": 0, "losses": 1, "p_value": 0.5},
        {"first": "a", "second": "omniscient", "pairs": 2, "difference": -0.25, "low": -0.5,
         "high": 0.0, "wins": 0, "ties": 1, "losses": 1, "p_value": 1.0},
    ],
}  # fmt: skip


def rows(text):
    """The rows of all tables in a text, headings included."""
    found = html.fromstring(f"<div>{text}</div>").iter("tr")
    return [[cell.text_content() for cell in row] for row in found]


def test_strategies_stand_side_by_side():
    """With what went wrong, where something did."""
    head, first, second = rows(studytables.side_by_side(DATA, title))
    assert head[-1] == "what went wrong"
    assert first == ["A", "32", "2,000", "1.60 %", "0.500 ± 0.250", "–", "15.0",
                     "75.0 %", "–", "–", "–", "seed 1: gone"]  # fmt: skip
    assert second == ["B", *["–"] * 10, ""]
    calm = {**DATA, "worlds": [{**DATA["worlds"][0], "strategies": {"a": ONE}}]}
    assert rows(studytables.side_by_side(calm, title))[0][-1] == "precision N"


def test_targets_stand_world_by_world():
    head, first, second = rows(studytables.found(DATA, title))
    assert head == [
        "strategy",
        "x",
        "area",
        "to 50 %",
        "to 90 %",
        "y",
        "area",
        "to 50 %",
        "to 90 %",
    ]
    assert first == ["A", "12", "0.500", "1,200", "–", "20 ± 2", "–", "–", "–"]
    assert second == ["B", *["–"] * 8]


def test_labels_have_their_counts_and_precision():
    _, first, second = rows(studytables.labels(DATA, title))
    assert first == ["A", "R", "8 / 4 / 3 (75.0 %)", "–", "75.0 %"]
    assert second == ["A", "N", "–", "2 / 0 / 0", "–"]


def test_depths_have_requests_and_targets():
    assert rows(studytables.depths(DATA, title)) == [
        ["depth", "targets there", "A"],
        ["0", "0", "1 / 0"],
        ["2", "14", "9 / 12"],
    ]


def test_the_merged_graph_counts_every_url():
    [_, row] = rows(studytables.merged(DATA))
    assert row == ["x", "1,527", "1,500", "20", "3", "4", "12", "6"]


def test_pairs_are_of_strategies_and_not_of_references():
    text = studytables.comparisons(DATA, title)
    [_, row] = rows(text)
    assert row == ["A − B", "+0.250", "-0.500 … +0.750", "1 / 0 / 1", "0.5"]
    assert "1 pairs" not in text
    assert "over 2 pairs" in text


def test_tables_of_the_thesis_have_its_figures_and_ours_with_their_spread():
    spread = {"mean": 903.4, "deviation": 3.0, "low": 900, "high": 907, "count": 5}
    row = {"what": "FC-R+HR", "thesis": [975, None], "ours": [spread, None]}
    data = {"tables": [{"title": "Found", "columns": "documents / none", "rows": [row]}]}
    text = studytables.of_the_thesis(data)
    assert "Found: documents / none" in text
    assert rows(text)[1] == ["FC-R+HR", "975 / –", "903 ± 3 / –", "900…907 / –"]
    assert studytables.of_the_thesis({**DATA, "tables": []}) == ""
