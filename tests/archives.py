"""Archives made for tests; ``_`` in the names of their members stands for a dot."""

from __future__ import annotations

import io
import tarfile
import zipfile


def zipped(**members: bytes) -> bytes:
    """A zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return file.getvalue()


def tarred(mode: str = "w", **members: bytes) -> bytes:
    """A tar archive; ``mode`` as ``tarfile`` has it: ``w:gz`` is a compressed one."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name.replace("_", "."))
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return file.getvalue()
