"""Pages of random markup: attributes of RDFa and Microdata in every combination.

No data stands behind them. They are for two readers that must agree.
"""

from __future__ import annotations

import random

NAMES = ["e:p", "e:q", "og:title", "dc:title", "foaf:name", "http://e.example/r", "name",
         "next", "license", "undefined:x", "_:b", "e:", ":p", "stylesheet", "schema:name",
         "top"]  # fmt: skip
RESOURCES = ["#x", "other", "http://x.example/", "[e:it]", "_:a", "[_:a]", "e:it",
             "http://x.example/a?b=1&amp;c=2", "/top", "mailto:a@x.example", "?q"]  # fmt: skip
LINKS = [resource for resource in RESOURCES if resource[:1] not in ("[", "_")]
TYPES = ["e:T", "e:T e:U", "T", "http://e.example/V", "", "undefined:T", "foaf:Person"]
TEXTS = [
    "one",
    " two ",
    "a &amp; b",
    "\n three\n",
    "",
    "é 東",
    "5",
    "2020-01-02",
    "&lt;b>",
    "10:00",
]
DATATYPES = ["xsd:integer", "http://e.example/t", "undefined:t", "xsd:date"]
TAGS = ["div", "span", "section", "article", "em"]  # of any nesting
VOID = ["meta", "link", "img"]
PROPERTIES = ["p", "q", "p q", "http://e.example/r", "name"]
# of one vocabulary: the other reader gives the properties of nested items that of the outer type
ITEMTYPES = ["http://e.example/ns#T", "http://e.example/ns#U"]
ITEMTYPES.append(" ".join(ITEMTYPES))


def _pick(chance: random.Random, options: list[str], share: float) -> str | None:
    return chance.choice(options) if chance.random() < share else None


def _attributes(chance: random.Random, found: dict[str, str | None]) -> str:
    parts = [f'{name}="{value}"' for name, value in found.items() if value is not None]
    chance.shuffle(parts)
    return "".join(f" {part}" for part in parts)


def rdfa_page(seed: int) -> str:
    """Return a page with RDFa of all kinds on nested elements."""
    chance = random.Random(seed)

    def element(depth: int) -> str:
        void = chance.random() < 0.15
        tag = chance.choice(VOID if void else TAGS)
        found = {
            "about": _pick(chance, RESOURCES, 0.15),
            "property": _pick(chance, NAMES, 0.45),
            "rel": _pick(chance, NAMES, 0.2),
            "rev": _pick(chance, NAMES, 0.05),
            "resource": _pick(chance, RESOURCES, 0.2),
            "href": _pick(chance, LINKS, 0.15),
            "src": _pick(chance, ["i.jpg", "#s"], 0.05),
            "typeof": _pick(chance, TYPES, 0.2),
            "content": _pick(chance, TEXTS[:2] + TEXTS[4:], 0.15),
            "datatype": _pick(chance, DATATYPES, 0.1),
            "lang": _pick(chance, ["en", "de", ""], 0.1),
            "prefix": _pick(chance, ["e: http://other.example/", "new: http://n.example/"], 0.03),
            "vocab": _pick(chance, ["http://v.example/", ""], 0.03),
        }
        start = f"<{tag}{_attributes(chance, found)}>"
        if void:
            return start
        # the other reader leaves out the text of properties inside the text of a property
        literal = not any(found[name] for name in ("resource", "href", "src", "typeof"))
        literal = literal or any(
            found[name] is not None for name in ("about", "rel", "rev", "datatype")
        )
        flat = found["property"] is not None and found["content"] is None and literal
        inner = "".join(
            chance.choice(TEXTS)
            if flat or depth > 4 or chance.random() < 0.4
            else element(depth + 1)
            for _ in range(chance.choice([0, 1, 1, 2, 3]))
        )
        return f"{start}{inner}</{tag}>"

    head = _attributes(
        chance, {"prefix": "e: http://e.example/", "lang": _pick(chance, ["fr"], 0.3)}
    )
    base = '<base href="http://b.example/d/p">' if chance.random() < 0.2 else ""
    body = "".join(element(0) for _ in range(4))
    return (
        f"<!DOCTYPE html><html{head}><head>{base}<title>t</title></head><body>{body}</body></html>"
    )


def microdata_page(seed: int) -> str:
    """Return a page with nested items, references and values of all elements."""
    chance = random.Random(seed)

    def element(depth: int, item: bool, scopes: bool = True) -> str:
        tag = chance.choice([*TAGS, *VOID, "data", "object", "time"])
        void = tag in VOID
        scope = scopes and not void and chance.random() < 0.35
        found = {
            "itemprop": _pick(chance, PROPERTIES, 0.7) if item or not scope else None,
            "itemscope": "" if scope else None,
            "itemtype": chance.choice(ITEMTYPES) if scope else None,
            "itemid": _pick(chance, ["#i", "http://x.example/i", "other"], 0.3) if scope else None,
            "itemref": _pick(chance, ["r1", "r2", "r1 r2"], 0.2) if scope else None,
            "id": _pick(chance, ["r3"], 0.02),
            "href": _pick(chance, ["#x", "l", "http://x.example/"], 0.9) if tag == "link" else None,
            "src": "i.jpg" if tag == "img" else None,
            "data": "o" if tag == "object" else None,
            "content": chance.choice(TEXTS[:2]) if tag == "meta" else None,
            "value": chance.choice(["7", "x"]) if tag == "data" else None,
            "datetime": chance.choice(["2020-01-02", "P1D", "10:00:00"]) if tag == "time" else None,
        }
        start = f"<{tag}{_attributes(chance, found)}>"
        if void:
            return start
        inner = "".join(
            chance.choice(TEXTS)
            if chance.random() < 0.4 or depth > 4
            else element(depth + 1, item or scope, scopes)
            for _ in range(chance.choice([0, 1, 2, 3]))
        )
        return f"{start}{inner}</{tag}>"

    body = "".join(element(0, False) for _ in range(3))
    body += f'<p id="r1" itemprop="p">far</p><div id="r2">{element(3, True, False)}</div>'
    return f"<!DOCTYPE html><html><head><title>t</title></head><body>{body}</body></html>"
