"""Fuzz the RDF readers: no exception may leave them, and no input may end the process.

    python scripts/rdf_fuzz.py [--seconds 600] [--seed 1] [--hypothesis | --atheris]

Each input is made out of pieces of the syntaxes and of mutated good documents. It is written to the
folder given by --keep before it is read, so that one that ends the process is there afterwards;
what raises is kept in ``tests/rdf/fuzz``, whose files the tests read again. With --hypothesis,
its strategies make the inputs, and the smallest that raises is kept. With --atheris, inputs are
guided by the coverage of our own code; the corpus grows in the folder given by --keep, out of that
in ``tests/rdf/fuzz/corpus.zip``, which --pack writes again.
"""

from __future__ import annotations

import argparse
import importlib
import io
import random
import resource
import sys
import time
import traceback
import zipfile
from hashlib import sha256
from pathlib import Path

from semcrawl.rdf import Detection, ReadOptions, detect, read, read_embedded, read_stream
from semcrawl.web.vocabulary import Kind, RdfFormat

FOUND = Path(__file__).parent.parent / "tests" / "rdf" / "fuzz"
CORPUS = FOUND / "corpus.zip"
URL = "http://example.org/doc"
RDFNS = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#"
GOOD = [
    b'<http://a/> <http://b/> "c\\u00e9"@en <http://g/> .\n_:x <http://b/> _:y .\n',
    b'@prefix e: <http://e/> . e:a a e:B ; e:c [ e:d (1 2.5 true "x"^^e:t) ] ; e:f """l\n""" .\n',
    b"PREFIX : <#>\n:g { :a :b :c, _:d . } { :e :f <<( :a :b :c )>> }\n",
    b"@prefix : <#> . { ?x :b :c } => { ?x :d :e } . :a :b! :c . @forAll :y .\n",
    b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e "http://e/">]><rdf:RDF xmlns:rdf="' + RDFNS
    + b'" xmlns:e="&e;" xml:base="http://b/"><e:T rdf:about="a" e:p="1"><e:q rdf:parseType='
    b'"Collection"><e:U/></e:q><e:r rdf:parseType="Literal"><b>x</b></e:r></e:T></rdf:RDF>',
    b'{"@context": ["https://schema.org", {"@base": "http://a/../", "x": {"@container": "@list"}}],'
    b' "@graph": [{"@id": "a", "@type": "B", "x": [1, "\\u0041", {"@value": 2}], "name": null}]}',
    b'<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph><uri>g</uri><triple><uri>a</uri>'
    b"<uri>b</uri><plainLiteral>c</plainLiteral></triple></graph></TriX>",
    b'<html lang="en"><base href="/x"><div vocab="http://schema.org/" typeof="P" about="#a">'
    b'<b property="n" inlist>x</b><i rel="foaf:k"><a href="b">c</a></i></div><p itemscope'
    b' itemid="#i" itemtype="http://s/T" itemref="z"><b itemprop="a b">1</b></p>'
    b'<i id="z" itemprop="q"></i>'
    b'<script type="application/ld+json">{"@id": "a", "http://p/": 1}</script></html>',
]  # fmt: skip
PIECES = [
    b"<", b">", b'"', b"'", b"{", b"}", b"[", b"]", b"(", b")", b".", b";", b",", b":", b"@", b"^^",
    b"_:", b"\\", b"\\u", b"\\uD800", b"\x00", b"\xff", b"\xc3", b"\n", b"#", b"a", b"<<", b">>",
    b"<<(", b")>>", b"=>", b"?", b"!", b"&", b"&#0;", b"&e;", b"</", b"/>", b"<!--", b"-->",
    b"<![CDATA[", b"]]>", b"<!ENTITY e SYSTEM 'x'>", b'"@context":', b'"@id":', b'"@graph":',
    b'"@list":', b'"@type":"@json"', b'"@reverse":', b'"@import":', b"rdf:", b"rdf:ID='a'",
    b"xmlns:e=''", b" property='a'", b" typeof=''", b" rel='x:y'", b" itemscope", b" itemprop='x'",
    b" href='http://[x'", b"http://", b"//", b"..", b"%", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b",
    b"PK\x03\x04", b"BZh9", b"1e999", b"-", b"GRAPH", b"@prefix", b"BASE", b"{|", b"|}", b"~",
    b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", b"\r", b"\t", b"@en--ltr", b"is", b"of",
]  # fmt: skip


def make(source: random.Random) -> bytes:
    """Return an input."""
    data = bytearray(source.choice(GOOD))
    for _ in range(source.choice((1, 1, 2, 3, 8, 30))):
        start = source.randrange(len(data) + 1)
        end = min(len(data), start + source.choice((0, 0, 1, 2, 5, 40)))
        act = source.random()
        if act < 0.6:
            data[start:end] = source.choice(PIECES) * source.choice((1, 1, 1, 2, 50))
        elif act < 0.7:
            data[start:end] = data[end : end + 30]
        elif act < 0.8:
            other = source.choice(GOOD)
            data[start:end] = other[source.randrange(len(other)) :]
        elif act < 0.9:
            del data[start:]
        elif data:
            data[start % len(data)] = source.randrange(256)
    return bytes(data)


def try_all(data: bytes, source: random.Random) -> None:
    """Read ``data`` in every way."""
    options = ReadOptions(max_seconds=20, max_in_memory=source.choice((10, 1 << 20)))
    detect(data, source.choice((None, "text/turtle", "text/html")), URL)
    _ = read(data, URL, None, options).links
    syntax = source.choice(list(RdfFormat))
    found = Detection(Kind.RDF, syntax, 1.0, "fuzz")
    _ = read(
        data, source.choice((URL, "", "x y", "http://[")), None, options, detection=found
    ).links
    read_embedded(data, URL, source.choice(("text/html", "application/xhtml+xml")), options)
    read_stream(io.BytesIO(data), URL + source.choice(("", ".nt", ".ttl", ".rdf", ".br")), None,
                options)  # fmt: skip


def keep_found(data: bytes) -> None:
    """Keep an input that raised, for the tests."""
    FOUND.mkdir(exist_ok=True)
    (FOUND / sha256(data).hexdigest()[:16]).write_bytes(data)


def run_hypothesis(seconds: float, seed: int) -> int:
    """Let hypothesis make inputs and shrink those that raise; return how many did."""
    import hypothesis
    from hypothesis import strategies as st

    pieces = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)
    cuts = st.tuples(st.sampled_from(GOOD), st.integers(0, 500), st.integers(0, 500)).map(
        lambda cut: cut[0][min(cut[1:]) : max(cut[1:])]
    )
    inputs = st.lists(st.one_of(st.sampled_from(GOOD), cuts, pieces, st.binary(max_size=8)),
                      max_size=6).map(b"".join)  # fmt: skip
    end = time.monotonic() + seconds
    count = bad = 0
    last = b""

    def one(data: bytes) -> None:
        nonlocal count, last
        count += 1
        last = data
        try_all(data, random.Random(sha256(data).digest()))

    limits = hypothesis.settings(
        max_examples=1000, deadline=None, database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    while time.monotonic() < end:
        seed += 1
        try:
            hypothesis.seed(seed)(limits(hypothesis.given(inputs)(one)))()
        except Exception:
            bad += 1
            keep_found(last)  # the smallest comes last
            traceback.print_exc(limit=-4)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{count} inputs, {bad} raised, memory {memory} MiB")
    return bad


def pack(corpus: Path) -> None:
    """Write the corpus, sorted and without dates, so that the same one gives the same file."""
    FOUND.mkdir(exist_ok=True)
    with zipfile.ZipFile(CORPUS, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(corpus.iterdir()):
            packed.writestr(zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED)


def run_atheris(seconds: float, seed: int, keep: Path) -> None:
    """Fuzz guided by coverage; does not return."""
    import atheris

    corpus = keep / "corpus"
    corpus.mkdir(exist_ok=True)
    if CORPUS.exists():
        with zipfile.ZipFile(CORPUS) as packed:
            packed.extractall(corpus)
    for number, data in enumerate(GOOD):
        (corpus / f"good-{number}").write_bytes(data)

    def one(data: bytes) -> None:
        try_all(data, random.Random(sha256(data).digest()))

    for name in [name for name in sys.modules if name.startswith("semcrawl.rdf")]:
        del sys.modules[name]
    with atheris.instrument_imports(include=["semcrawl.rdf"]):
        rdf = importlib.import_module("semcrawl.rdf")
    names = ("Detection", "ReadOptions", "detect", "read", "read_embedded", "read_stream")
    globals().update({name: getattr(rdf, name) for name in names})
    atheris.Setup(
        [sys.argv[0], f"-max_total_time={seconds:.0f}", f"-seed={seed}", "-rss_limit_mb=2048",
         "-timeout=60", f"-artifact_prefix={keep}/", str(corpus)],
        one,
    )  # fmt: skip
    atheris.Fuzz()


def main() -> int:
    """Fuzz for a time; return how many inputs raised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("/tmp/semcrawl-fuzz"))  # noqa: S108
    parser.add_argument("--hypothesis", action="store_true", help="inputs made by hypothesis")
    parser.add_argument("--atheris", action="store_true", help="guided by coverage")
    parser.add_argument("--pack", action="store_true", help="keep the corpus of --keep; no fuzzing")
    arguments = parser.parse_args()
    source = random.Random(arguments.seed)
    arguments.keep.mkdir(exist_ok=True)
    if arguments.pack:
        pack(arguments.keep / "corpus")
        return 0
    if arguments.hypothesis:
        return run_hypothesis(arguments.seconds, arguments.seed)
    if arguments.atheris:
        run_atheris(arguments.seconds, arguments.seed, arguments.keep)
    end = time.monotonic() + arguments.seconds
    count = bad = 0
    slowest = 0.0
    while time.monotonic() < end:
        data = make(source)
        (arguments.keep / f"last-{arguments.seed}").write_bytes(data)
        start = time.monotonic()
        try:
            try_all(data, source)
        except Exception:
            bad += 1
            keep_found(data)
            traceback.print_exc(limit=-4)
        if time.monotonic() - start > max(slowest, 1.0):
            slowest = time.monotonic() - start
            (arguments.keep / f"slow-{arguments.seed}").write_bytes(data)
        count += 1
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{count} inputs, {bad} raised, slowest {slowest:.1f} s, memory {memory} MiB")
    return bad


if __name__ == "__main__":
    sys.exit(main())
