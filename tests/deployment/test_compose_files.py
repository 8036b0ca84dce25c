"""The compose files: what they refer to is there, and the settings that they name exist."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from deployment.documents import COMPOSE, COMPOSE_FILES, ROOT
from semcrawl import settings

FILES = {path.name: yaml.safe_load(path.read_text()) for path in COMPOSE_FILES}
SERVICES = [
    pytest.param(name, service, id=f"{file}-{name}")
    for file, content in FILES.items()
    for name, service in content["services"].items()
]


@pytest.mark.parametrize(("name", "service"), SERVICES)
def test_settings_that_a_service_names_exist(name: str, service: dict[str, Any]) -> None:
    # (of scrapy-redis)
    known = {"REDIS_START_URLS_KEY"}
    for setting in service.get("environment", {}):
        assert hasattr(settings, setting) or setting in known


@pytest.mark.parametrize("file", FILES)
def test_volumes_and_services_that_it_refers_to_are_there(file: str) -> None:
    content = FILES[file]
    for service in content["services"].values():
        assert set(service.get("depends_on", ())) <= content["services"].keys()
        for volume in service.get("volumes", []):
            source, colon, _ = volume.partition(":")
            if source.startswith("."):
                assert (COMPOSE / source).is_file()
            elif colon:
                assert source in content["volumes"]
    used = {v.partition(":")[0] for s in content["services"].values() for v in s.get("volumes", [])}
    assert content["volumes"].keys() <= used


@pytest.mark.parametrize(("name", "service"), SERVICES)
def test_workers_are_built_from_the_image_of_the_repository(
    name: str, service: dict[str, Any]
) -> None:
    if "build" in service:
        folder = (COMPOSE / Path(service["build"]["context"])).resolve()
        assert folder == ROOT
        assert (folder / "Dockerfile").is_file()
    else:
        assert service["image"].partition(":")[2], "an image without a version"


def test_nothing_of_it_can_be_reached_from_other_machines() -> None:
    for content in FILES.values():
        for service in content["services"].values():
            for port in service.get("ports", []):
                assert port.startswith("127.0.0.1:")
