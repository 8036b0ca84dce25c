"""``semcrawl describe``: describe a crawl as a dataset, in RDF or as tables."""

from __future__ import annotations

import argparse
import sys
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import pyoxigraph
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.commandline import OfflineCommand
from semcrawl.config.jobdir import ResultOptions
from semcrawl.errors import SemcrawlError, UsageError, existing_folder, os_errors_as
from semcrawl.metadata.database import CRAWL_DB, connect, one_line, readable_db_url
from semcrawl.metadata.description import PREFIXES, DescriptionOptions, describe
from semcrawl.metadata.parquet import write_parquet
from semcrawl.settings.reader import checked_iri, fill
from semcrawl.wholefiles import whole_file

FORMATS = {
    "ttl": pyoxigraph.RdfFormat.TURTLE,
    "nt": pyoxigraph.RdfFormat.N_TRIPLES,
    "rdf": pyoxigraph.RdfFormat.RDF_XML,
    "jsonld": pyoxigraph.RdfFormat.JSON_LD,
}


class Command(OfflineCommand):
    """Describes the attempts and documents of a crawl as RDF."""

    arguments = "[options] DIR"
    summary = "Describe a harvest as a dataset (PROV-O, VoID, DCAT)"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        parser.add_argument(
            "-o", "--output", metavar="FILE", help="file to write (default: stdout)"
        )
        parser.add_argument(
            "--format",
            choices=sorted(FORMATS),
            help="syntax (default: by the file's extension, else ttl)",
        )
        parser.add_argument("--base", default="", metavar="IRI", help="IRI of the dataset")
        parser.add_argument(
            "--download-url", default="", metavar="URL", help="where quads.nq can be downloaded"
        )
        parser.add_argument(
            "--documents-only", action="store_true", help="leave out attempts without a document"
        )
        parser.add_argument(
            "--metadata",
            choices=["parquet"],
            help="write fetch.parquet and document.parquet into the job folder instead",
        )

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse a folder without a crawl, and unknown syntaxes."""
        if len(args) != 1:
            raise UsageError("give one job folder")
        if not self._database and not (existing_folder(Path(args[0])) / CRAWL_DB).is_file():
            raise UsageError(f"{args[0]} holds no {CRAWL_DB}")
        ending = Path(opts.output or "").suffix.lower()
        if not (opts.format or opts.metadata or ending.lstrip(".") in ("", *FORMATS)):
            raise UsageError(
                f"unknown format {ending}: give --format {', '.join(sorted(FORMATS))}, "
                "or a file with such an extension"
            )
        checked_iri("--base", opts.base)
        checked_iri("--download-url", opts.download_url)

    @property
    def _database(self) -> str:
        return str(fill(ResultOptions, self.own_settings).metadata_url or "")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Write the description."""
        folder = Path(args[0])
        try:
            engine = connect(self._database or readable_db_url(folder))
            if opts.metadata:
                for path in write_parquet(engine, folder):
                    print(path)
            else:
                _write(engine, opts)
            engine.dispose()
        except BrokenPipeError:
            raise
        except OSError as error:
            name = error.filename or "to standard output"
            raise SemcrawlError(f"cannot write {name}: {error.strerror}") from None
        except ValueError as error:
            raise SemcrawlError(str(error)) from None
        except SQLAlchemyError as error:
            raise SemcrawlError(f"cannot read the records: {one_line(error)}") from None


def _write(engine: Engine, opts: argparse.Namespace) -> None:
    ending = Path(opts.output or "").suffix.lower().lstrip(".")
    syntax = FORMATS[opts.format or ending or "ttl"]
    options = DescriptionOptions(opts.base, opts.download_url, not opts.documents_only)
    described = describe(engine, options)
    if (first := next(described, None)) is None:
        raise UsageError(
            "no attempt is recorded there; for records in another database give "
            "-s SEMCRAWL_METADATA_URL=…"
        )
    triples = chain([first], described)
    prefixes = None if syntax == pyoxigraph.RdfFormat.N_TRIPLES else PREFIXES
    if not opts.output:
        _serialize(triples, sys.stdout.buffer, syntax, prefixes)
        return
    path = Path(opts.output)
    with os_errors_as(SemcrawlError, f"cannot write {path}"), whole_file(path) as file:
        _serialize(triples, file, syntax, prefixes)


def _serialize(
    triples: object,
    file: BinaryIO,
    syntax: pyoxigraph.RdfFormat,
    prefixes: dict[str, str] | None,
) -> None:
    pyoxigraph.serialize(triples, file, syntax, prefixes=prefixes)  # type: ignore[arg-type]
