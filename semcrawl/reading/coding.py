"""Bodies on disk without the coding that they had on their way."""

from __future__ import annotations

from semcrawl.rdf import ReadOptions
from semcrawl.rdf.packed.archives import unpacked
from semcrawl.rdf.packed.compression import coding_of, compression_of
from semcrawl.rdf.packed.streams import Budget, CountedFile, SafeFile
from semcrawl.web.bodies import BodyFile

_PIECE = 1 << 20


def uncoded(body: BodyFile, options: ReadOptions) -> BodyFile:
    """Unpack a body as its ``Content-Encoding`` says, within the limits of reading.

    What is not packed so, or not whole, is returned as it came.
    """
    kind = coding_of(b",".join(body.codings).decode("latin-1"))
    budget = Budget(options)
    packed = SafeFile(CountedFile(body.stream(), budget), budget, counted=False)
    if kind is None or compression_of(packed.peek(4)) is not kind:
        return body
    plain = BodyFile(options.spool_dir)
    try:
        content = unpacked(packed, kind, budget)
        while piece := content.read(_PIECE):
            plain.write(piece)
    except ImportError:  # the package for zstd
        plain.close()
        return body
    if content.fault or packed.fault:
        plain.close()
        return body
    return plain
