"""The YAML documents of the examples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
KUBERNETES = ROOT / "examples" / "kubernetes"
COMPOSE = ROOT / "examples" / "docker-compose"
MANIFESTS = sorted(path for path in KUBERNETES.glob("*.yaml") if path.name != "kustomization.yaml")
COMPOSE_FILES = sorted(COMPOSE.glob("*.yaml"))


def manifests() -> list[dict[str, Any]]:
    """All resources of the Kubernetes example."""
    return [each for path in MANIFESTS for each in yaml.safe_load_all(path.read_text())]


def resource(kind: str, name: str) -> dict[str, Any]:
    """The resource of this kind and name."""
    (found,) = [
        each
        for each in manifests()
        if (each["kind"], each["metadata"]["name"]) == (kind, name)
    ]  # fmt: skip
    return found


def pod_specs() -> Iterator[tuple[str, dict[str, Any]]]:
    """The pods that workloads make, and the workloads' names."""
    for each in manifests():
        if "template" in each.get("spec", {}):
            name = f"{each['kind']} {each['metadata']['name']}"
            yield name, each["spec"]["template"]["spec"]


def inside(value: Any, key: str) -> Iterator[Any]:
    """All values of a key, at any depth."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name == key:
                yield item
            yield from inside(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from inside(item, key)
