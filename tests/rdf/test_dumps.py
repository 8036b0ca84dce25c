"""Big dumps in bounded memory."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import gzip, sys, time
from pathlib import Path
from semcrawl.rdf import ReadOptions, read_stream
folder, gigabytes = Path(sys.argv[1]), float(sys.argv[2])
line = b'<http://example.org/resource/%d> <http://example.org/p> "value %d of many, in words" .\\n'
piece = b"".join(line % (i, i) for i in range(100_000))
times = int(gigabytes * 1e9 / len(piece))
with gzip.open(folder / "dump.nt.gz", "wb", 1) as out:
    for _ in range(times):
        out.write(piece)
start = time.time()
with open(folder / "dump.nt.gz", "rb") as file:
    reading = read_stream(file, "http://example.org/dump.nt.gz", None,
                          ReadOptions(spool_dir=folder))
assert reading.quads == times * 100_000, reading.errors
assert reading.error_count == 0
# the peak of this process alone: getrusage counts what its parent had in memory as well
status = dict(row.split(":", 1) for row in Path("/proc/self/status").read_text().splitlines())
print(int(status["VmHWM"].split()[0]) // 1024, round(time.time() - start))
"""


@pytest.mark.slow
def test_a_gigabyte_of_lines_takes_less_than_300_megabytes(tmp_path: Path) -> None:
    """Memory does not grow with the dump: what holds for one gigabyte holds for five."""
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), "1"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert int(done.stdout.split()[0]) < 300
