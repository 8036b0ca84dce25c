"""Documents of a job that the user marked as good or bad examples of a topic.

Their texts are stored with them, so a topic needs nothing else of the job.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from semcrawl.errors import UsageError, os_errors_as
from semcrawl.topics.sourcefiles import Sample

#: file in the job folder, with one JSON object per line
MARKS_FILE = "marks.jsonl"
GOOD, BAD = "good", "bad"
#: file that marks a folder as a job's
_JOB = "crawl.db"


@dataclass(frozen=True, slots=True)
class Marked:
    """A text of a marked document; a document has one per language."""

    url: str
    #: :data:`GOOD` or :data:`BAD`
    mark: str
    sample: Sample


def read_marks(folder: Path) -> list[Marked]:
    """Return the marked documents of a job folder; raise ``UsageError`` for an invalid file."""
    path = folder / MARKS_FILE
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', error)}") from None
    return [*_marked(text, path)]


def marked_in(folder: Path) -> list[Marked]:
    """Return the marked documents of a folder; raise ``UsageError`` for a job without any."""
    marked = read_marks(folder) if folder.is_dir() else []
    if not marked and (folder / _JOB).is_file():
        raise UsageError(
            f"nothing is marked in the job {folder}: semcrawl pages {folder} --mark good URL"
        )
    return marked


def _marked(text: str, path: Path) -> Iterator[Marked]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            texts = [row.get(name, "") for name in ("text", "title", "headings", "language")]
            valid = row["mark"] in (GOOD, BAD) and all(isinstance(one, str) for one in texts)
            marked = Marked(str(row["url"]), row["mark"], Sample(*texts))
        except (ValueError, TypeError, KeyError, AttributeError):
            valid = False
        if not valid:
            raise UsageError(f"{path}, line {number}: not a marked document")
        yield marked


def write_marks(folder: Path, marked: Iterable[Marked]) -> None:
    """Replace the marked documents of a job folder atomically; raise ``UsageError`` on failure."""
    path = folder / MARKS_FILE
    lines = [
        json.dumps({"mark": one.mark, "url": one.url, **asdict(one.sample)}, ensure_ascii=False)
        for one in marked
    ]
    part = path.with_name(f"{MARKS_FILE}.part")
    with os_errors_as(UsageError, f"cannot write {path}"):
        part.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        os.replace(part, path)
