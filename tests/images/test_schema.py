"""The images' database makes itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from semcrawl.errors import StoreError, UsageError
from semcrawl.images import schema


def differences(engine) -> list:
    with engine.connect() as connection:
        return compare_metadata(MigrationContext.configure(connection), schema.Base.metadata)


def test_a_new_database_equals_the_models_and_opens_again(tmp_path: Path) -> None:
    engine = schema.open_images(tmp_path, make=True)
    assert differences(engine) == []
    engine.dispose()
    schema.open_images(tmp_path).dispose()


def test_a_database_of_another_version_is_refused_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "Bücher 1"
    folder.mkdir()
    with schema.open_images(folder, make=True).begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match=r"images\.db has schema 9999") as caught:
        schema.open_images(folder)
    assert "\n" not in str(caught.value)
    assert f"the database {folder}/images.db has" in str(caught.value)


def test_a_folder_without_images_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="keeps no images"):
        schema.open_images(tmp_path)


def test_a_file_that_is_no_database_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / schema.IMAGES_DB).write_bytes(b"nothing of the kind " * 99)
    with pytest.raises(StoreError, match=r"cannot open the database .*images\.db"):
        schema.open_images(tmp_path)


def test_a_number_is_the_same_everywhere_and_fits_into_a_row() -> None:
    assert schema.key_of("http://example.org/") == 4327361276773565006
    assert 0 <= schema.key_of("\ud800") < 2**63
