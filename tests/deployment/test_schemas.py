"""The examples fit the schemas of Kubernetes and of compose, and the Dockerfile its linter.

Not slow, but their tools come with the extra ``dev``, which the full run has.
"""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from deployment.documents import COMPOSE_FILES, ROOT, manifests, resource

kubernetes_validate = pytest.importorskip("kubernetes_validate")
pytestmark = pytest.mark.slow

SCRIPTS = Path(sysconfig.get_path("scripts"))
#: a version of some age, and the newest that the validator knows
VERSIONS = ["1.30.0", kubernetes_validate.latest_version()]


def tool(name: str) -> str:
    """The path of a program of the extra ``dev``."""
    found = shutil.which(name, path=str(SCRIPTS))
    if found is None:
        pytest.skip(f"needs {name}")
    return found


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("each", manifests(), ids=lambda r: f"{r['kind']}-{r['metadata']['name']}")
def test_a_resource_fits_the_schema_and_says_nothing_else(
    each: dict[str, Any], version: str
) -> None:
    kubernetes_validate.validate(each, version, strict=True)


def test_a_misspelt_field_would_be_found() -> None:
    broken = resource("StatefulSet", "worker")
    broken["spec"]["replicsa"] = 3
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSIONS[-1], strict=True)


def check_compose(path: Path) -> subprocess.CompletedProcess[str]:
    command = [tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", str(path)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("path", COMPOSE_FILES, ids=lambda path: path.name)
def test_a_compose_file_fits_the_schema(path: Path, tmp_path: Path) -> None:
    done = check_compose(path)
    assert done.returncode == 0, done.stdout
    broken = tmp_path / "broken.yaml"
    broken.write_text(path.read_text().replace("restart:", "restrat:"))
    assert check_compose(broken).returncode != 0


def test_the_dockerfile_has_nothing_to_complain_of() -> None:
    done = subprocess.run(
        [tool("hadolint"), str(ROOT / "Dockerfile")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
