"""Families: links of one document that look alike (see :mod:`semcrawl.relevance.families`).

When the first few of a family were barren, the others are withheld when their turn comes. The 1st,
2nd, 4th, 8th … of these are fetched all the same, to detect a family of which only some can be
fetched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semcrawl.frontier.sqlite.layout import WITHHELD
from semcrawl.frontier.sqlite.links import label_of, put
from semcrawl.frontier.sqlite.transaction import Transaction

#: characters of a family's name
_NAME = 8
#: bytes before that name at the end of a blob: msgpack of "s": NAME
_MARK = b"\xa1s" + bytes([160 + _NAME])


def family_of(blob: bytes, lost: int | None) -> str | None:
    """Return the family of a link that was neither redirected nor requested before, or ``None``."""
    if blob[-_NAME - len(_MARK) : -_NAME] != _MARK:
        return None
    return blob[-_NAME:].decode("ascii", "replace")


def fields(t: Transaction, name: str) -> dict[str, Any]:
    """Return the stored fields of a family."""
    return dict(t.execute("SELECT field, value FROM family WHERE name = ?", (name,)).fetchall())


def set_field(t: Transaction, name: str, field: str, value: object) -> None:
    """Store a field of a family."""
    t.execute("INSERT OR REPLACE INTO family VALUES (?, ?, ?)", (name, field, value))


def count_field(t: Transaction, name: str, field: str) -> int:
    """Increment a field of a family; return it."""
    return int(
        t.execute(
            "INSERT INTO family VALUES (?, ?, 1) ON CONFLICT DO UPDATE"
            " SET value = CAST(value AS INTEGER) + 1 RETURNING value",
            (name, field),
        ).fetchall()[0][0]
    )


def is_barren(t: Transaction, known: Mapping[str, Any]) -> bool:
    """Whether a family is barren, by its fields; a pair of mirrors counts as barren."""
    if "mirror" in known:
        return bool(t.options["mirror_copies"] > 0)
    tries = t.options["family_tries"]
    if tries <= 0:
        return False
    return int(known.get("useful", 0)) == 0 and int(known.get("barren", 0)) >= tries


def is_withheld(t: Transaction, name: str) -> bool:
    """Whether to withhold a link of this family, now that its turn has come."""
    if not is_barren(t, fields(t, name)):
        return False
    met = count_field(t, name, "met")
    return met & (met - 1) != 0


def withhold(t: Transaction, name: str, seq: int) -> None:
    """Withhold a link of a family."""
    t.execute("UPDATE link SET state = ? WHERE seq = ?", (WITHHELD, seq))
    t.execute("INSERT OR IGNORE INTO withheld VALUES (?, ?)", (name, seq))


def put_back(t: Transaction, name: str, seq: int) -> int:
    """Let a withheld link wait again; return 1, or 0 if it was not withheld."""
    sql = "DELETE FROM withheld WHERE family = ? AND seq = ?"
    if not t.execute(sql, (name, seq)).rowcount:
        return 0
    number, label = label_of(t, seq)
    t.label(t.part(number).queue, label, 1)
    put(t, seq, number)
    return 1


def withholding(t: Transaction) -> list[tuple[str, int]]:
    """Return the families with withheld links, and the numbers of these."""
    return t.execute("SELECT family, count(*) FROM withheld GROUP BY family").fetchall()


def know(t: Transaction, families: Sequence[tuple[str, str, str]]) -> None:
    """Register families (name, document, pattern) of links to be added."""
    for name, document, pattern in families:
        set_field(t, name, "document", stored(document))
        set_field(t, name, "pattern", stored(pattern))


def stored(value: str) -> str | bytes:
    """Return a text in a form that SQLite stores: bytes if it is not valid Unicode."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
    return value


def judge(t: Transaction, answers: Sequence[tuple[str, str, str]]) -> bool:
    """Record verdicts on families: name, verdict, digest of a redirect's target.

    A redirect to a known address that another link of the family led to before is barren. If that
    other link was the only useful one, it does not count as useful either, as a common target of
    all links is not what they name. Return whether withheld links must be restored.
    """
    found = False
    for name, verdict, led_to in answers:
        what = verdict
        known = fields(t, name)
        if not known:
            continue
        if led_to:
            useful = int(known.get("useful", 0))
            if what != "useful" and known.get("led") == led_to:
                what = "barren"
                if known.get("only") == led_to and useful == 1:
                    set_field(t, name, "useful", 0)
                    count_field(t, name, "unknown")
            elif what == "useful" and useful == 0:
                set_field(t, name, "only", led_to)
            set_field(t, name, "led", led_to)
        count_field(t, name, what)
        if what == "useful" and t.row("SELECT 1 FROM withheld WHERE family = ?", name):
            found = True
    return found


def restore(t: Transaction, limit: int) -> int:
    """Restore links whose families or mirrors no longer count as barren; return how many."""
    number = 0
    for name, _ in withholding(t):
        if is_barren(t, fields(t, name)):
            continue
        sql = "SELECT seq FROM withheld WHERE family = ? ORDER BY seq LIMIT ?"
        for (seq,) in t.execute(sql, (name, limit - number)).fetchall():
            number += put_back(t, name, seq)
        if number >= limit:
            return number
        t.execute("DELETE FROM family WHERE name = ? AND field = 'met'", (name,))
    return number
