"""The Kubernetes example: closed in itself, and safe by default."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from deployment.documents import KUBERNETES, MANIFESTS, inside, manifests, pod_specs, resource
from semcrawl import settings
from semcrawl.frontier.redis.redisurl import Addresses

RESOURCES = manifests()
PODS = dict(pod_specs())


def test_the_kustomization_lists_every_file() -> None:
    text = (KUBERNETES / "kustomization.yaml").read_text()
    assert set(yaml.safe_load(text)["resources"]) == {path.name for path in MANIFESTS}


def named(kind: str) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each for each in RESOURCES if each["kind"] == kind}


@pytest.mark.parametrize("pod", PODS)
def test_what_a_pod_refers_to_is_there(pod: str) -> None:
    """Keys of ConfigMaps and Secrets, volumes, and names of ports."""
    maps, secrets = named("ConfigMap"), named("Secret")
    for reference in inside(PODS[pod], "secretKeyRef"):
        assert reference["key"] in secrets[reference["name"]]["stringData"]
    for reference in inside(PODS[pod], "configMapKeyRef"):
        assert reference["key"] in maps[reference["name"]]["data"]
    for volume in (*inside(PODS[pod], "configMap"), *inside(PODS[pod], "configMapRef")):
        assert volume["name"] in maps
    (workload,) = [
        each for each in RESOURCES if f"{each['kind']} {each['metadata']['name']}" == pod
    ]
    volumes = {each["name"] for each in PODS[pod].get("volumes", [])}
    claims = workload["spec"].get("volumeClaimTemplates", [])
    volumes |= {each["metadata"]["name"] for each in claims}
    for container in PODS[pod]["containers"]:
        assert {each["name"] for each in container.get("volumeMounts", [])} == volumes
        ports = {each["name"] for each in container.get("ports", [])}
        assert {port for port in inside(container, "port") if isinstance(port, str)} <= ports
    if "serviceName" in workload["spec"]:
        assert workload["spec"]["serviceName"] in named("Service")


def test_selectors_select_pods_that_exist() -> None:
    apps = {
        labels["app"]
        for each in RESOURCES
        for template in inside(each, "template")
        for labels in inside(template["metadata"], "labels")
    }
    for each in RESOURCES:
        for labels in inside(each, "matchLabels"):
            assert labels["app"] in apps
        for expression in (found for e in inside(each, "matchExpressions") for found in e):
            assert set(expression["values"]) <= apps
    for service in named("Service").values():
        assert service["spec"]["selector"]["app"] in apps


@pytest.mark.parametrize("pod", PODS)
def test_a_pod_may_do_no_more_than_it_must(pod: str) -> None:
    """As the restricted standard of Kubernetes demands, with bounded memory and no way to write."""
    spec = PODS[pod]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] > 0
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    for container in spec["containers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"]
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}


def test_settings_that_it_names_exist() -> None:
    names = set(resource("ConfigMap", "semcrawl")["data"])
    (worker,) = PODS["StatefulSet worker"]["containers"]
    names |= {each["name"] for each in worker["env"]} - {"REDIS_PASSWORD"}
    # (of scrapy-redis)
    assert {name for name in names if not hasattr(settings, name)} <= {"REDIS_START_URLS_KEY"}


def test_seeds_and_workers_name_one_list_in_the_slot_of_the_first_shard() -> None:
    data = resource("ConfigMap", "semcrawl")["data"]
    name = data["SEMCRAWL_CRAWL_NAME"]
    key = data["REDIS_START_URLS_KEY"] % {"name": "html"}
    assert key == f"{{{name}.0}}:html:start_urls"
    (seeds,) = PODS["Job seeds"]["containers"]
    assert f'lpush "{key}"' in seeds["command"][-1].replace("$SEMCRAWL_CRAWL_NAME", name)


def test_workers_and_scripts_name_servers_that_are_there() -> None:
    (worker,) = PODS["StatefulSet worker"]["containers"]
    (url,) = (each["value"] for each in worker["env"] if each["name"] == "REDIS_URL")
    servers = [
        f"redis-{n}.redis" for n in range(resource("StatefulSet", "redis")["spec"]["replicas"])
    ]
    addresses = Addresses.read(url)
    assert addresses.cluster
    assert {urlsplit(each).hostname for each in addresses.urls} < set(servers)
    assert all("$(REDIS_PASSWORD)" in each for each in addresses.urls)
    scripts = resource("ConfigMap", "redis")["data"]
    numbers = " ".join(str(n) for n in range(len(servers)))
    for name in ("create.sh", "meet.sh"):
        assert f"for number in {numbers}; do" in scripts[name]
