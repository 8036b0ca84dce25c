"""A frontier in shards holds together, or says in one line why not."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from frontier_calls import OPTIONS, Q, drain, link, sharded
from hypothesis import example, given
from hypothesis import strategies as st
from redis import Redis
from redis.asyncio.connection import parse_url
from scrapy.settings import Settings
from served_redis import ServedRedis

from semcrawl.errors import FrontierCorrupt, FrontierUnavailable, UsageError
from semcrawl.frontier import RedisFrontier, ShardedFrontier
from semcrawl.frontier.backends import check_backend, job_backend, visited_frontier
from semcrawl.frontier.redis.connection import Addresses
from semcrawl.frontier.sharded.shards import number_of
from semcrawl.frontier.transfer import export_lines, import_lines
from semcrawl.web.hosts import public_address


@pytest.mark.parametrize(
    ("text", "urls", "cluster"),
    [
        ("redis://a:1/2", ["redis://a:1/2"], False),
        ("redis://a,b:6380,c", ["redis://a", "redis://b:6380", "redis://c"], False),
        (
            "redis://u:p@a,b,v:q@c/3",
            ["redis://u:p@a/3", "redis://u:p@b/3", "redis://v:q@c/3"],
            False,
        ),
        ("rediss://a/1,redis://b/2", ["rediss://a/1", "redis://b/2"], False),
        ("unix:///x/a,unix:///x/b", ["unix:///x/a", "unix:///x/b"], False),
        ("redis+cluster://:p@a:7,b:8", ["redis://:p@a:7", "redis://:p@b:8"], True),
        ("rediss+cluster://a", ["rediss://a"], True),
    ],
)
def test_the_servers_of_an_address(text: str, urls: list[str], cluster: bool) -> None:
    found = Addresses.read(text)
    assert (list(found.urls), found.cluster) == (urls, cluster)
    assert "p@" not in public_address(text)


@pytest.mark.parametrize(
    "text", ["redis://a,", "redis://a,,b", "redis://a,a", "redis://a,redis+cluster://b"]
)
def test_a_list_that_names_no_servers_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="REDIS_URL"):
        Addresses.read(text)


def test_hosts_are_spread_over_all_shards() -> None:
    shards = Counter(number_of(f"h{n}.example", 16) for n in range(16_000))
    assert len(shards) == 16
    assert max(shards.values()) < 1.2 * 1000


def settings(servers: list[str], name: str, **more: object) -> Settings:
    return Settings({"REDIS_URL": ",".join(servers), "SEMCRAWL_CRAWL_NAME": name, **more})


async def test_shards_may_move_to_other_servers(
    start_served: Callable[..., ServedRedis], tmp_path: Path, prefix: str
) -> None:
    """All three on one server: the crawl knows that it has three."""
    one = start_served()
    three = settings([one.url], prefix, SEMCRAWL_FRONTIER_SHARDS=3)
    async with job_backend(three, tmp_path, OPTIONS) as frontier:
        await frontier.add([link(str(n), host=f"h{n}.example") for n in range(30)])
    async with visited_frontier(settings([one.url], prefix), None) as frontier:
        assert isinstance(frontier, ShardedFrontier)
        assert (await frontier.counts(Q, [])).waiting == 30
    with pytest.raises(UsageError, match="began with 3 shards, not 4"):
        job_backend(settings([one.url], prefix, SEMCRAWL_FRONTIER_SHARDS=4), tmp_path, OPTIONS)
    with pytest.raises(UsageError, match="is a shard of a crawl of 3"):
        await RedisFrontier(one.url, prefix=f"{prefix}.0", worker_id="w", options=OPTIONS).open()


async def test_an_older_crawl_of_one_shard_is_not_opened_with_three(
    servers: list[str], prefix: str, tmp_path: Path
) -> None:
    async with RedisFrontier(servers[0], prefix=prefix, worker_id="w", options=OPTIONS) as old:
        await old.add([link("1")])
    with pytest.raises(UsageError, match="began with one shard, not 3"):
        job_backend(settings(servers, prefix), tmp_path, OPTIONS)
    with pytest.raises(UsageError, match="began with one shard, not 3"):
        await sharded(servers, prefix).open()
    async with visited_frontier(settings(servers[:1], prefix), None) as frontier:
        assert (await frontier.counts(Q, [])).waiting == 1


async def test_servers_in_another_order_are_refused(servers: list[str], prefix: str) -> None:
    async with sharded(servers, prefix) as frontier:
        await frontier.add([link("1")])
    with pytest.raises(FrontierCorrupt, match=r"has another shard .* in another order"):
        await sharded(servers[1:] + servers[:1], prefix).open()


async def test_a_shard_of_another_crawl_is_refused(servers: list[str], prefix: str) -> None:
    async with sharded(servers, prefix):
        pass
    with Redis.from_url(servers[1]) as admin:
        admin.hset(f"{{{prefix}.1}}:meta", "crawl", "other")
    with pytest.raises(FrontierCorrupt, match="shard of another crawl that was called"):
        await sharded(servers, prefix).open()


async def test_a_shard_that_is_emptied_is_missed(
    start_served: Callable[..., ServedRedis], prefix: str
) -> None:
    """In the middle of a crawl, and when the next worker opens it."""
    started = [start_served() for _ in range(3)]
    urls = [server.url for server in started]
    frontier = sharded(urls, prefix)
    await frontier.open()
    await frontier.add([link(str(n), host=f"h{n}.example") for n in range(30)])
    with started[2].client() as admin:
        admin.flushall()
    with pytest.raises(FrontierCorrupt, match=f"{started[2].port}.* has lost the crawl's keys"):
        await drain(frontier)
    with pytest.raises(FrontierCorrupt, match=f"shard 2 of the 3 .*{started[2].port}"):
        await sharded(urls, prefix, "w2").open()
    with pytest.raises(FrontierCorrupt):
        await frontier.close()


@pytest.mark.slow
async def test_one_server_down_at_the_start_is_named(
    start_served: Callable[..., ServedRedis], prefix: str, tmp_path: Path
) -> None:
    urls = [start_served().url, "redis://127.0.0.1:1/0", start_served().url]
    with pytest.raises(
        FrontierUnavailable, match=r"no Redis at .*:1/0 \(2 of 3\): connection refused"
    ):
        check_backend(settings(urls, prefix), tmp_path)
    with pytest.raises(FrontierUnavailable, match=r"127\.0\.0\.1:1/0 is not usable"):
        await sharded(urls, prefix).open()


async def test_a_wrong_password_of_one_server_is_named(
    start_served: Callable[..., ServedRedis], prefix: str, tmp_path: Path
) -> None:
    locked = start_served("--requirepass", "secret")
    urls = [start_served().url, locked.url.replace("//", "//:wrong@")]
    with pytest.raises(FrontierUnavailable, match=rf"{locked.port}.* \(2 of 2\): .*password"):
        check_backend(settings(urls, prefix), tmp_path)
    with pytest.raises(FrontierUnavailable, match=rf"{locked.port}.*password"):
        await sharded(urls, prefix).open()
    right = [urls[0], locked.url.replace("//", "//:secret@")]
    async with sharded(right, prefix) as frontier:
        assert await frontier.add([link("1")]) == [True]


async def test_there_is_no_crawl_to_look_at_where_none_began(
    servers: list[str], prefix: str
) -> None:
    with pytest.raises(FrontierUnavailable, match="there is no crawl"):
        await sharded(servers, prefix).open(make=False)


async def test_a_frontier_moves_from_one_shard_into_three_and_back(
    servers: list[str], prefix: str
) -> None:
    async with RedisFrontier(servers[0], prefix=prefix, worker_id="w", options=OPTIONS) as old:
        await old.add([link(str(n), host=f"h{n}.example", key=n) for n in range(30)])
        await old.set_values({"g": 2.0})
        await old.end(await old.take(5, Q))
        await old.end(await old.take(2, Q), failed=True)
        lines = [line async for line in export_lines(old)]
    names = (f"{prefix}three", f"{prefix}one")
    async with (
        sharded(servers, names[0]) as three,
        RedisFrontier(servers[0], prefix=names[1], worker_id="w", options=OPTIONS) as one,
    ):
        assert await import_lines(three, lines) == 23
        assert await import_lines(one, [line async for line in export_lines(three)]) == 23
        # (each shard has the digests of those that are done)
        assert (await three.counts(Q, [])).seen == (await one.counts(Q, [])).seen == 30
        assert not any(await three.add([link(str(n), host=f"h{n}.example") for n in range(30)]))
        assert not any(await one.add([link(str(n), host=f"h{n}.example") for n in range(30)]))
        assert await three.requeue(Q) == await one.requeue(Q) == 2
        assert await drain(three) == await drain(one) == [str(n) for n in range(5, 30)]


async def test_seen_urls_are_counted_once_however_often_a_frontier_moves(
    servers: list[str], prefix: str
) -> None:
    """From one server into three shards, three others, and two; what comes later counts, too."""
    async with RedisFrontier(servers[0], prefix=prefix, worker_id="w", options=OPTIONS) as old:
        await old.add([link(str(n), host=f"h{n}.example") for n in range(20)])
        await old.end(await old.take(8, Q))
        lines = [line async for line in export_lines(old)]
    for number, shards in enumerate((servers, servers, servers[:2])):
        async with sharded(shards, f"{prefix}-{number}") as frontier:
            await import_lines(frontier, lines)
            assert (await frontier.counts(Q, [])).seen == 20 + number
            assert await frontier.add([link("new", host=f"new{number}.example")]) == [True]
            assert (await frontier.counts(Q, [])).seen == 21 + number
            assert (await frontier.inspector.state()).counts.seen == 21 + number
            assert await frontier.inspector.audit() == []
            lines = [line async for line in export_lines(frontier)]


async def test_settings_that_may_lose_links_are_warned_of(
    start_served: Callable[..., ServedRedis], prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Once for all servers that have them, and not to who only looks."""
    urls = [start_served().url, start_served("--appendonly", "no").url]
    async with sharded(urls, prefix):
        pass
    (warning,) = [record.getMessage() for record in caplog.records]
    assert urls[1] in warning
    assert "appendonly is no" in warning
    caplog.clear()
    async with ShardedFrontier(urls, prefix=prefix, worker_id="g", options=OPTIONS, guest=True):
        assert not caplog.records


@pytest.mark.slow
async def test_a_server_that_answers_slowly_is_waited_for(
    start_served: Callable[..., ServedRedis], prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    """One line tells of it and one that it is back; nothing is lost, and nothing comes twice."""
    started = [start_served() for _ in range(3)]
    urls = [server.url for server in started]
    links = [link(str(n), host=f"h{n}.example") for n in range(60)]
    slow = number_of("h0.example", 3)
    async with sharded(urls, prefix, timeout=0.1, patience=60, ahead=16) as frontier:
        assert all(await frontier.add(links[:30]))
        caplog.clear()
        with started[slow].client() as admin:
            admin.client_pause(400)
        assert all(await frontier.add(links[30:]))
        assert sorted(await drain(frontier), key=int) == [str(n) for n in range(60)]
        said = [record.getMessage() for record in caplog.records]
        assert len(said) == 2
        assert f"127.0.0.1:{started[slow].port}" in said[0]
        assert "waiting up to" in said[0]
        assert said[1].endswith("is back")
        assert (await frontier.counts(Q, [])).seen == 60


@pytest.mark.slow
async def test_a_server_that_stands_still_for_too_long_ends_the_crawl_with_one_line(
    start_served: Callable[..., ServedRedis], prefix: str
) -> None:
    """What it holds is there when it goes on."""
    started = [start_served() for _ in range(3)]
    urls = [server.url for server in started]
    links = [link(str(n), host=f"h{n}.example") for n in range(30)]
    slow = started[number_of("h0.example", 3)]
    frontier = sharded(urls, prefix, timeout=0.2)
    await frontier.open()
    await frontier.add(links)
    slow.process.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(FrontierUnavailable, match=rf"127\.0\.0\.1:{slow.port}.*not usable"):
            await frontier.take(9, Q)
    finally:
        slow.process.send_signal(signal.SIGCONT)
    await frontier.close()
    async with sharded(urls, prefix) as again:
        assert sorted(await drain(again), key=int) == [str(n) for n in range(30)]


@given(
    st.text(
        st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_characters=",%"), min_size=1
    )
)
@example("a/b?c#d@e:f")
def test_a_password_may_hold_any_character_and_is_never_shown(password: str) -> None:
    url = f"redis://:{password}@r.example:6380/3"
    (found,) = Addresses.read(url).urls
    parsed = parse_url(found)
    assert (parsed["password"], parsed["host"], parsed["port"]) == (password, "r.example", 6380)
    for shown in (url, found):
        assert public_address(shown) == "redis://r.example:6380/3"


def test_passwords_in_messages_about_a_list_are_not_shown() -> None:
    shown = public_address("redis://:a/b@x.example,redis://u:c?d@y.example:1/2")
    assert shown == "redis://y.example:1/2"
