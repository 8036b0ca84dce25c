"""The Kubernetes example: closed in itself, and safe by default."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from deployment.documents import KUBERNETES, MANIFESTS, inside, manifests, pod_specs, resource
from semcrawl import settings
from semcrawl.frontier.redis.connection import Addresses

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
            is_of_namespaces = labels.keys() == {"kubernetes.io/metadata.name"}
            assert is_of_namespaces or labels["app"] in apps
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


@pytest.mark.parametrize("pod", PODS)
def test_an_image_has_a_fixed_tag_or_a_digest(pod: str) -> None:
    """Another image under the same name would change a cluster without a decision."""
    for container in PODS[pod]["containers"]:
        name, _, tag = container["image"].rpartition("/")[2].partition(":")
        assert "@sha256:" in container["image"] or tag.count(".") >= 2, (name, tag)


def test_every_pod_is_under_a_policy_that_limits_where_it_may_go() -> None:
    apps = {labels["app"] for spec in RESOURCES for labels in _pod_labels(spec)}
    limited: set[str] = set()
    for policy in named("NetworkPolicy").values():
        spec = policy["spec"]
        assert spec["policyTypes"] == ["Ingress", "Egress"]
        selector = spec["podSelector"]
        limited |= set(selector.get("matchLabels", {}).values())
        for expression in selector.get("matchExpressions", ()):
            limited |= set(expression["values"])
    assert limited == apps


def test_workers_reach_the_public_web_on_its_ports_alone() -> None:
    rules = named("NetworkPolicy")["worker"]["spec"]["egress"]
    (web,) = (rule for rule in rules if any("ipBlock" in to for to in rule["to"]))
    assert [port["port"] for port in web["ports"]] == [80, 443]
    excepted = {cidr for to in web["to"] for cidr in to["ipBlock"]["except"]}
    assert {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"} <= excepted


def test_no_machine_holds_two_servers_of_a_shard() -> None:
    (rule,) = PODS["StatefulSet redis"]["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert rule["topologyKey"] == "kubernetes.io/hostname"
    assert rule["labelSelector"] == {"matchLabels": {"app": "redis"}}


def _pod_labels(each: dict[str, Any]) -> list[dict[str, str]]:
    return [template["metadata"]["labels"] for template in inside(each, "template")]
