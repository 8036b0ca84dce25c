"""Servers that go away, refuse, or hold what is not ours: a pause, or one clear line."""

from __future__ import annotations

import asyncio
import logging
import signal
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from certificate import certify
from frontier_calls import Q, link, names, outcomes_of_others
from scrapy.settings import Settings
from served_redis import ServedRedis

from semcrawl.crawl.session import SessionSource
from semcrawl.errors import FrontierCorrupt, FrontierUnavailable, UsageError
from semcrawl.frontier import FrontierOptions, RedisFrontier
from semcrawl.frontier.backends import admit_harvest

StartServed = Callable[..., ServedRedis]


def frontier_on(server: ServedRedis | str, worker: str = "w", **options: Any) -> RedisFrontier:
    url = server if isinstance(server, str) else server.url
    merged = FrontierOptions(**({"delay": 0.0, "concurrency": 100, "patience": 20.0} | options))
    return RedisFrontier(url, prefix="crawl", worker_id=worker, options=merged)


async def test_a_killed_server_costs_a_pause_and_nothing_else(
    start_served: StartServed, caplog: pytest.LogCaptureFixture
) -> None:
    """It is said once that the server is away, and once that it is back."""
    server = start_served()
    async with frontier_on(server) as frontier:
        assert all(await frontier.add([link(str(n)) for n in range(20)]))
        before = await frontier.take(2, Q)
        server.kill()
        calls = [asyncio.create_task(frontier.take(1, Q)) for _ in range(5)]
        calls.append(asyncio.create_task(frontier.take(1, Q)))
        await asyncio.sleep(0.1)
        assert not any(call.done() for call in calls)
        await asyncio.to_thread(server.start)
        taken = before + [lease for call in calls for lease in await call]
        assert len({lease.entry.url for lease in taken}) == 8
        await frontier.end(taken)
        assert (await frontier.counts(Q, [])).waiting == 12
        assert await frontier.inspector.audit() == []
    messages = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert len(messages) == 2
    assert "not usable: connection refused; waiting up to" in messages[0]
    assert "is back" in messages[1]


async def test_patience_ends(start_served: StartServed) -> None:
    server = start_served()
    frontier = frontier_on(server, patience=0.05)
    await frontier.open()
    server.kill()
    with pytest.raises(FrontierUnavailable, match=r"not usable: connection refused"):
        await frontier.take(1, Q)
    server.start()
    assert await frontier.take(1, Q) == []
    await frontier.close()


@pytest.mark.slow
async def test_the_end_does_not_wait_for_a_server_that_is_away(start_served: StartServed) -> None:
    server = start_served()
    frontier = frontier_on(server, patience=300.0)
    await frontier.open()
    server.kill()
    async with asyncio.timeout(30):
        with pytest.raises(FrontierUnavailable):
            await frontier.close()
    server.start()


@pytest.mark.slow
async def test_the_end_does_not_wait_for_a_server_that_hangs(start_served: StartServed) -> None:
    server = start_served()
    frontier = frontier_on(server, patience=300.0)
    await frontier.open()
    server.process.send_signal(signal.SIGSTOP)
    try:
        async with asyncio.timeout(20):  # an answer may take 30 s while the crawl goes on
            with pytest.raises(FrontierUnavailable, match="no answer"):
                await frontier.close()
    finally:
        server.process.send_signal(signal.SIGCONT)


class CuttingProxy:
    """Passes bytes to a server; when told, it cuts the connection before the next answer."""

    def __init__(self, port: int) -> None:
        self.target = port
        self.cut = False
        self.cuts = 0

    async def __aenter__(self) -> CuttingProxy:
        self.server = await asyncio.start_server(self.connected, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.server.close()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self.target)

        async def requests() -> None:
            while data := await reader.read(65536):
                back.write(data)
            back.close()

        task = asyncio.create_task(requests())
        while data := await there.read(65536):
            if self.cut:
                self.cut = False
                self.cuts += 1
                break
            writer.write(data)
        writer.close()
        task.cancel()
        back.close()


async def test_a_call_whose_answer_was_lost_is_not_done_twice(served: ServedRedis) -> None:
    async with CuttingProxy(served.port) as proxy:
        options = FrontierOptions(delay=0, concurrency=100)
        frontier = RedisFrontier(
            f"redis://127.0.0.1:{proxy.port}", prefix="cut", worker_id="w", options=options
        )
        async with frontier:
            proxy.cut = True
            assert await frontier.add([link("1"), link("2")]) == [True, True]
            proxy.cut = True
            (first,) = await frontier.take(1, Q)
            assert first.entry.url == "http://a.example/1"
            assert (await frontier.counts(Q, [])).leased == 1
            proxy.cut = True
            await frontier.shared.exchange(b"event", limit=0)
            await frontier.shared.push_seeds("cut-seeds", ["s1", "s2"])
            proxy.cut = True
            assert await frontier.shared.take_seeds("cut-seeds", 1) == ["s1"]
            proxy.cut = True
            await frontier.give_back([first])
            (again,) = await frontier.take(1, Q)
            assert again.entry == first.entry
            proxy.cut = True
            await frontier.end([again])
            assert (await frontier.counts(Q, ["cut-seeds"])).seeds == 2
            assert await frontier.inspector.audit() == []
            assert proxy.cuts == 6
            other = RedisFrontier(served.url, prefix="cut", worker_id="other", options=options)
            async with other:
                assert await outcomes_of_others(other) == [b"event"]
                # a reply kept for one call is not given to the next
                assert await frontier.add([link("1"), link("3")]) == [False, True]


@pytest.mark.parametrize("url", ["http://localhost", "localhost:6379", ""])
def test_no_address_of_a_server(url: str) -> None:
    with pytest.raises(UsageError, match="not the address of a Redis server"):
        frontier_on(url)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("redis://127.0.0.1:1", "127.0.0.1:1 is not usable"),
        ("unix:///nowhere/redis.sock", "nowhere/redis.sock is not usable"),
    ],
)
async def test_a_server_that_is_not_there_is_said_soon(url: str, why: str) -> None:
    with pytest.raises(FrontierUnavailable, match=f"(?i){why}"):
        await frontier_on(url, patience=0.1).open()


async def test_a_certificate_that_is_not_trusted_is_named(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certify(tmp_path))
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", ssl=context)
    url = f"rediss://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        with pytest.raises(FrontierUnavailable, match="certificate cannot be trusted"):
            await frontier_on(url, patience=0.1).open()
        with pytest.raises(FrontierUnavailable, match="certificate cannot be trusted"):
            await asyncio.to_thread(SessionSource(Settings({"REDIS_URL": url})).check)


async def test_a_wrong_password(start_served: StartServed) -> None:
    server = start_served("--requirepass", "secret")
    for url in (server.url, server.url.replace("//", "//:wrong@")):
        with pytest.raises(FrontierUnavailable, match=r"(?i)not usable.*(auth|password)") as caught:
            await frontier_on(url).open()
        assert "wrong" not in str(caught.value).partition("not usable")[0]
    async with frontier_on(server.url.replace("//", "//:secret@")) as frontier:
        assert await frontier.add([link("1")]) == [True]


async def test_a_server_out_of_memory_is_waited_for(start_served: StartServed) -> None:
    server = start_served()
    admin = server.client()
    async with frontier_on(server, patience=0.05) as frontier:
        await frontier.add([link("1")])
        admin.config_set("maxmemory", "1")
        with pytest.raises(FrontierUnavailable, match="not usable: OOM"):
            await frontier.add([link("2")])
        admin.config_set("maxmemory", "0")
        assert await frontier.add([link("2")]) == [True]
        assert await frontier.inspector.audit() == []


async def test_an_outage_is_said_once_though_some_calls_get_through(
    start_served: StartServed, caplog: pytest.LogCaptureFixture
) -> None:
    """A server out of memory, or read-only, does what needs none: it is not back for that."""
    server = start_served()
    admin = server.client()
    async with frontier_on(server) as frontier:
        await frontier.add([link("1")])
        admin.config_set("maxmemory", "1")
        adding = asyncio.create_task(frontier.add([link("2")]))
        while not caplog.messages:
            assert (await frontier.counts(Q, [])).waiting == 1
        assert (await frontier.counts(Q, [])).waiting == 1
        admin.config_set("maxmemory", "0")
        assert await adding == [True]
    assert ["not usable: OOM" in message for message in caplog.messages] == [True, False]
    assert "is back" in caplog.messages[1]


def test_no_password_is_shown(start_served: StartServed) -> None:
    server = start_served("--requirepass", "secret")
    for url, why in (
        (server.url, "asks for a password"),
        (server.url.replace("//", "//:wrong@"), "password"),
        (server.url.replace("//", "//user:wr@ng@"), "password"),
    ):
        with pytest.raises(FrontierUnavailable, match=why) as caught:
            SessionSource(Settings({"REDIS_URL": url})).check()
        assert "wr" not in str(caught.value).partition(why)[0]
        assert "127.0.0.1" in str(caught.value)


def test_a_refusal_is_told_without_what_was_sent(start_served: StartServed, tmp_path: Path) -> None:
    server = start_served("--min-replicas-to-write", "1")
    settings = Settings({"REDIS_URL": server.url, "JOBDIR": str(tmp_path)})
    with pytest.raises(FrontierUnavailable) as caught:
        admit_harvest(settings, tmp_path, ["http://a.example/"])
    reason = "NOREPLICAS Not enough good replicas to write"
    assert str(caught.value) == f"no Redis at REDIS_URL {server.url}: {reason}"


async def test_a_read_only_server_is_waited_for(start_served: StartServed) -> None:
    server = start_served()
    admin = server.client()
    async with frontier_on(server, patience=0.05) as frontier:
        await frontier.add([link("1")])
        admin.replicaof("127.0.0.1", 1)
        with pytest.raises(FrontierUnavailable, match=r"not usable: (READONLY|MASTERDOWN)"):
            await frontier.add([link("2")])
        admin.replicaof("NO", "ONE")
        assert await frontier.add([link("2")]) == [True]


@pytest.mark.parametrize(
    ("key", "call"),
    [
        ("wait:html:a.example/g", lambda f: f.add([link("2")])),
        ("leases:html", lambda f: f.take(1, Q)),
        ("lease", lambda f: f.take(1, Q)),
        ("groups:html", lambda f: f.set_values({"g": 3.0})),
        ("busy:a.example", lambda f: f.take(1, Q)),
        ("labels:html", lambda f: f.counts(Q, [])),
        ("pace", lambda f: f.pace.set("a.example", delay=3)),
        ("queues", lambda f: f.take(1, Q)),
        ("meta", lambda f: f.open()),
        ("seen:0", lambda f: f.add([link("2")])),
        ("events", lambda f: f.shared.exchange(b"e", limit=0)),
        ("events", lambda f: outcomes_of_others(f)),
        ("state", lambda f: f.shared.load_state("s")),
        ("state", lambda f: f.shared.save_state("s", b"")),
    ],
)
async def test_wrong_data_under_a_key_is_named(
    served: ServedRedis, prefix: str, key: str, call: Callable[[RedisFrontier], Any]
) -> None:
    frontier = RedisFrontier(served.url, prefix=prefix, worker_id="w")
    await frontier.open()
    await frontier.add([link("1")])
    with served.client() as admin:
        name = "{" + prefix + "}:" + key
        admin.delete(name)
        admin.set(name, "something else")
        with pytest.raises(FrontierCorrupt) as caught:
            await call(frontier)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)
        admin.delete(name)


async def test_entries_that_cannot_be_read_are_named(served: ServedRedis, prefix: str) -> None:
    frontier = RedisFrontier(served.url, prefix=prefix, worker_id="w")
    await frontier.open()
    await frontier.add([link("1"), link("2", group="h")])
    with served.client() as admin:
        key = "{" + prefix + "}:wait:html:a.example/g"
        admin.delete(key)
        admin.rpush(key, b"\x80" + b"\0" * 15 + b"no msgpack")
        with pytest.raises(FrontierCorrupt, match=r"\{" + prefix + r"\}:wait:html:a\.example/g"):
            await frontier.take(1, Q)
        admin.hset("{" + prefix + "}:lease", "html:1", b"garbage")
        admin.zadd("{" + prefix + "}:leases:html", {"html:1": 2e15})
        with pytest.raises(FrontierCorrupt, match=":lease"):
            await RedisFrontier(served.url, prefix=prefix, worker_id="w").open()


async def test_keys_of_another_format_are_refused(served: ServedRedis, prefix: str) -> None:
    async with RedisFrontier(served.url, prefix=prefix, worker_id="w") as frontier:
        await frontier.add([link("1")])
    with served.client() as admin:
        meta = "{" + prefix + "}:meta"
        admin.hset(meta, "format", "999")
        with pytest.raises(FrontierCorrupt, match=r"meta' has format 999.*reads format \d"):
            await RedisFrontier(served.url, prefix=prefix, worker_id="w").open()
        admin.hdel(meta, "format")
        with pytest.raises(FrontierCorrupt, match="no version stamp"):
            await RedisFrontier(served.url, prefix=prefix, worker_id="w").open()


@pytest.mark.parametrize("begun_anew", [False, True])
async def test_a_crawl_whose_keys_are_lost_is_not_mixed_with_a_new_one(
    start_served: StartServed, begun_anew: bool
) -> None:
    redis = start_served()
    frontier = RedisFrontier(redis.url, prefix="c", worker_id="w")
    await frontier.open()
    await frontier.add([link("1")])
    with redis.client() as admin:
        admin.flushall()
    if begun_anew:
        async with RedisFrontier(redis.url, prefix="c", worker_id="v") as other:
            await other.add([link("2")])
    for call in (lambda: frontier.add([link("3")]), lambda: frontier.take(9, Q), frontier.close):
        with pytest.raises(FrontierCorrupt, match="lost the crawl's keys"):
            await call()
    async with RedisFrontier(redis.url, prefix="c", worker_id="u") as later:
        assert names(await later.take(9, Q)) == (["2"] if begun_anew else [])


async def test_a_server_that_evicts_keys_is_warned_of(
    start_served: StartServed, caplog: pytest.LogCaptureFixture
) -> None:
    redis = start_served("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
    async with RedisFrontier(redis.url, prefix="c", worker_id="w"):
        assert ["allkeys-lru" in record.getMessage() for record in caplog.records] == [True]
    with redis.client() as admin:
        admin.config_set("maxmemory-policy", "noeviction")
    caplog.clear()
    async with RedisFrontier(redis.url, prefix="c", worker_id="w"):
        assert caplog.records == []


async def test_a_user_without_rights_is_not_waited_for(start_served: StartServed) -> None:
    redis = start_served()
    with redis.client() as admin:
        admin.execute_command("ACL", "SETUSER", "u", "on", ">p", "~other:*", "+@all")
    url = redis.url.replace("://", "://u:p@")
    with pytest.raises(FrontierUnavailable, match="no permissions"):
        await RedisFrontier(url, prefix="c", worker_id="w").open()
