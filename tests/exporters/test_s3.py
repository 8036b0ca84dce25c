"""Feeds to S3-style URIs, against a server that speaks S3."""

from __future__ import annotations

import gzip
import subprocess
import sysconfig
import time
from pathlib import Path

import pytest
from harvest.runs import harvest
from pipelines.servers import free_port

from semcrawl.lab.demo import DemoWeb, serve

from .test_feeds import crawl

boto3 = pytest.importorskip("boto3")
SERVER = Path(sysconfig.get_path("scripts"), "moto_server")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.server,
    pytest.mark.skipif(not SERVER.exists(), reason="needs moto[server]"),
]
LOGIN = {"AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "secret"}


@pytest.fixture(scope="module")
def s3():
    """A client of a server with one bucket."""
    port = free_port()
    process = subprocess.Popen(
        [SERVER, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    client = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{port}",
        aws_access_key_id="me",
        aws_secret_access_key="secret",
        region_name="us-east-1",
    )
    deadline = time.monotonic() + 60
    while True:
        try:
            client.create_bucket(Bucket="crawls")
            break
        except Exception:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    yield client
    client.close()
    process.terminate()
    process.wait()


def settings_for(s3) -> dict[str, str]:
    return {**LOGIN, "AWS_ENDPOINT_URL": s3.meta.endpoint_url, "AWS_REGION_NAME": "us-east-1"}


def test_the_object_of_an_earlier_run_is_replaced(tmp_path, s3):
    s3.put_object(Bucket="crawls", Key="a/data.nq.gz", Body=b"from an earlier run")
    log = crawl(tmp_path, {"s3://crawls/a/data.nq.gz": {"format": "gz"}}, **settings_for(s3))
    assert "ERROR" not in log
    data = gzip.decompress(s3.get_object(Bucket="crawls", Key="a/data.nq.gz")["Body"].read())
    expected = (tmp_path / "job" / "quads.nq").read_bytes().splitlines()
    assert sorted(data.splitlines()) == sorted(expected)


def test_a_bucket_that_is_not_there_ends_a_feed_with_one_line(tmp_path, s3):
    log = crawl(tmp_path, {"s3://elsewhere/data.nq": {"format": "nq"}}, **settings_for(s3))
    errors = [line.split("ERROR: ")[1] for line in log.splitlines() if "] ERROR: " in line]
    (error,) = errors
    assert error.startswith("The feed s3://elsewhere/data.nq is given up: cannot write s3://else")
    assert len((tmp_path / "job" / "quads.nq").read_bytes().splitlines()) == 60 * 21


def test_spiders_and_workers_of_a_harvest_have_an_object_each(tmp_path, s3):
    """Nothing that one of them stored is replaced by another."""
    web = DemoWeb()
    login = [part for item in settings_for(s3).items() for part in ("-s", "=".join(item))]
    with serve(web) as server:
        run = harvest(
            web.start, "--workers", "2", "--fast", "--pages", "100", *login,
            "-s", "SEMCRAWL_CRAWL_DELAY=0.1",
            "-o", "s3://crawls/w/%(worker)s.nq",
            folder=tmp_path / "out", proxy=server.proxy_url, no_proxy="127.0.0.1",
        )  # fmt: skip
    assert run.status == 0, run.err
    names = [o["Key"] for o in s3.list_objects_v2(Bucket="crawls", Prefix="w/")["Contents"]]
    bodies = [s3.get_object(Bucket="crawls", Key=key)["Body"].read() for key in names]
    assert len(names) > 1
    assert sorted(b"".join(bodies).splitlines(keepends=True)) == sorted(
        line.encode() for line in run.quads
    )


def test_a_harvest_refuses_one_object_for_both_spiders(tmp_path):
    run = harvest("http://a.example/", "-o", "s3://crawls/all.nq", folder=tmp_path / "out")
    assert run.status == 2
    assert "put %(worker)s into its name" in run.err
