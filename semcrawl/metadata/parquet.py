"""Writes the metadata tables as Parquet files, for analysis."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from sqlalchemy import BigInteger, Boolean, Double, Engine, Integer, select

from semcrawl.config.extras import install_hint
from semcrawl.errors import StoreError, UsageError, os_errors_as
from semcrawl.metadata.records import Document, Fetch
from semcrawl.wholefiles import whole_file

#: rows read and written at once
BATCH = 10_000


def check_parquet() -> None:
    """Raise ``UsageError`` if pyarrow is missing."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ModuleNotFoundError:
        raise UsageError(f"Parquet needs: {install_hint('parquet')}") from None


def write_parquet(engine: Engine, folder: Path) -> list[Path]:
    """Write ``fetch.parquet`` and ``document.parquet``, each atomically; return their paths.

    Raises ``UsageError`` without pyarrow, and ``StoreError`` if the folder cannot be written.
    """
    check_parquet()
    written = []
    for model in (Fetch, Document):
        path = folder / f"{model.__tablename__}.parquet"
        with os_errors_as(StoreError, f"cannot write {path}"):
            _write(engine, model.__table__, path)
        written.append(path)
    return written


def _write(engine: Engine, table: Any, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = arrow_schema(table)
    with (
        whole_file(path) as file,
        engine.execution_options(read_only=True).connect() as connection,
        pq.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        rows = connection.execution_options(yield_per=BATCH).execute(
            select(table).order_by(table.c.id)
        )
        for batch in rows.partitions():
            writer.write_table(
                pa.Table.from_pylist([dict(row._mapping) for row in batch], schema=schema)
            )


def arrow_schema(table: Any, without: Collection[str] = ()) -> Any:
    """Return the schema of a table for pyarrow, without some columns."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field(column.name, _type_of(column.type), column.nullable)
            for column in table.columns
            if column.name not in without
        ]
    )


def _type_of(kind: Any) -> Any:
    import pyarrow as pa

    if isinstance(kind, BigInteger):
        return pa.int64()
    if isinstance(kind, Integer):
        return pa.int32()
    if isinstance(kind, Double):
        return pa.float64()
    if isinstance(kind, Boolean):
        return pa.bool_()
    return pa.string()
