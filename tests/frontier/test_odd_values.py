"""Whatever others write to the crawl's Redis: it is told of, and ends no worker."""

from __future__ import annotations

import logging
import zlib
from collections.abc import AsyncIterator
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.crawl.learning import VERSION, SharedLearning, decode_event, encode_event
from semcrawl.crawl.sharedrobots import RobotsAnswer
from semcrawl.errors import FrontierCorrupt, UsageError
from semcrawl.frontier import RedisFrontier
from semcrawl.frontier.contract import Entry, FrontierOptions
from semcrawl.frontier.links import LinkState, changes, pack_options, slowed
from semcrawl.frontier.redis.localserver import RedisServer
from semcrawl.frontier.redis.packing import unpack_lease, unpack_member, unpack_taken
from semcrawl.relevance import Outcome, load_strategy, strategies
from semcrawl.spiders.seeds import read_planted
from semcrawl.web.hosts import netloc_of
from semcrawl.web.vocabulary import Kind

SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.text(max_size=20),
    st.binary(max_size=20),
    st.sampled_from(["http://a.example/x", "H", "R", "rdf", "html", 1.5, "1e400"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(st.text(max_size=5) | st.integers(0, 20), inner, max_size=6)
    ),
    max_leaves=12,
)
PACKED = VALUES.map(msgpack.packb) | st.binary(max_size=60)


def oddly(fields: list[Any]) -> st.SearchStrategy[list[Any]]:
    """Lists like ``fields`` of which one is something else."""
    return st.tuples(st.integers(0, len(fields) - 1), VALUES).map(
        lambda odd: [*fields[: odd[0]], odd[1], *fields[odd[0] + 1 :]]
    )


LINK = [{0: "http://a.example/y", 9: 3, 2: "words"}, "H", "group", 1.0, ["r1"], [0.5]]
EVENT = [VERSION, "http://a.example/x", "html", False, "http://a.example/x", None, 1, 200, "H"]
EVENT += [["r1"], "group", False, [LINK]]
EVENTS = oddly(EVENT) | oddly(LINK).map(lambda link: [*EVENT[:-1], [link]])


def told(error: Exception) -> None:
    """Assert that an error is one line."""
    assert str(error)
    assert "\n" not in str(error)


def read_outcome(event: bytes) -> Outcome | None:
    try:
        return decode_event(event)
    except ValueError:
        return None


@given(data=st.data())
def test_an_event_is_refused_or_whole(data: st.DataObject) -> None:
    """An accepted event can be encoded again, and every strategy learns from it."""
    packed = data.draw(EVENTS.map(msgpack.packb) | PACKED)
    event = data.draw(st.sampled_from([b"p" + packed, b"z" + zlib.compress(packed), packed]))
    if (outcome := read_outcome(event)) is not None:
        assert read_outcome(encode_event(outcome)) == outcome
        for name in strategies():
            strategy = load_strategy(name, {})
            strategy.learn(outcome)
            assert isinstance(strategy.dump_state(), bytes)


@pytest.mark.parametrize("name", sorted(strategies()))
@given(state=PACKED | st.binary(max_size=40).map(zlib.compress))
def test_a_learned_state_is_refused_in_one_line(name: str, state: bytes) -> None:
    strategy = load_strategy(name, {})
    try:
        strategy.load_state(state)
    except UsageError as error:
        told(error)


@pytest.mark.slow
@given(payload=st.dictionaries(st.sampled_from([*"pdrvtemifsc", "again"]), VALUES), label=st.text())
def test_a_payload_gives_a_memo_that_can_be_packed_again(
    payload: dict[str, Any], label: str
) -> None:
    entry = Entry("http://a.example/", "a.example", "html", "g", 0.0, payload, label)
    state = LinkState.unpack(entry)
    msgpack.packb(state.pack(), unicode_errors="surrogatepass")
    assert isinstance(state.parent, str | None)


@pytest.mark.slow
@given(member=PACKED, values=VALUES, key=st.floats() | st.binary(max_size=4))
def test_a_link_is_read_or_the_frontier_is_corrupt(member: bytes, values: Any, key: Any) -> None:
    blob = msgpack.packb(values)
    for each in (member, b"\0" * 6 + b"\0\1H" + blob):
        for read in (
            lambda each=each: unpack_member("{x}:", "html", "a.example", "g", 0.0, each).entry,
            lambda each=each: (
                unpack_lease([b"w:1", b"html", b"a.example", b"g", key, each, 0], "{x}:", "1").entry
            ),
        ):
            try:
                LinkState.unpack(read())
            except FrontierCorrupt as error:
                told(error)
    try:
        unpack_taken(blob, "{x}:")
    except FrontierCorrupt as error:
        told(error)


@given(PACKED | oddly([200, 1e9, False, b"User-agent: *"]).map(msgpack.packb))
def test_a_robots_txt_is_read_or_refused(kept: bytes) -> None:
    try:
        answer = RobotsAnswer.unpack(kept)
    except ValueError:
        return
    assert isinstance(answer.rules, bytes)
    assert answer.available in (True, False)


@given(PACKED)
def test_options_of_other_workers_are_taken_or_passed_over(kept: bytes) -> None:
    options = FrontierOptions()
    slowed(kept, options)
    changes(kept, pack_options(options))


@pytest.fixture
async def frontier(redis_server: RedisServer, prefix: str) -> AsyncIterator[RedisFrontier]:
    async with RedisFrontier(
        str(redis_server.socket), prefix=f"odd-{prefix}", worker_id="one", options=FrontierOptions()
    ) as opened:
        yield opened


ODD_EVENTS: list[dict[str, Any]] = [
    {"e": b"p" + msgpack.packb([*EVENT[:6], "deep", *EVENT[7:]])},
    {"e": b"p" + msgpack.packb([*EVENT[:-1], [["link"]]])},
    {"e": b"z" + zlib.compress(msgpack.packb({"url": 1}))},
    {"e": b"\xff", "q": b"\xff\xfe"},
    {"t": msgpack.packb([[b"html", b"a.example", 5, b"x"]])},
    {"t": msgpack.packb(7), "m": b"1"},
    {"w": b"x"},
]


async def test_wrongly_typed_events_are_passed_over_and_the_next_is_heard(
    frontier: RedisFrontier, caplog: pytest.LogCaptureFixture
) -> None:
    learning = SharedLearning(frontier, load_strategy("learned", {}), netloc_of, synchronised=False)
    for event in ODD_EVENTS:
        await frontier.client.xadd(frontier.keys["events"], event)
    good = Outcome("http://a.example/x.nt", Kind.RDF, True, "http://a.example/x.nt", status=200)
    await frontier.client.xadd(frontier.keys["events"], {"e": encode_event(good), "w": b"another"})
    with caplog.at_level(logging.WARNING):
        while await learning.read_events():
            pass
    assert learning.outcomes == 1
    assert all("\n" not in line for line in caplog.messages)
    assert any("event" in line for line in caplog.messages)


async def test_an_odd_state_is_told_of_with_its_key(frontier: RedisFrontier) -> None:
    learning = SharedLearning(frontier, load_strategy("learned", {}), netloc_of, synchronised=False)
    await learning.save()
    await frontier.client.hset(frontier.keys["state"], "strategy:learned", b"\xc1nothing")
    with pytest.raises(FrontierCorrupt, match="strategy:learned"):
        await learning.load()


@pytest.mark.slow
@given(st.text(max_size=50) | VALUES.map(lambda value: str(value).replace("'", '"')))
def test_a_seed_is_read_or_refused(raw: str) -> None:
    try:
        planted = read_planted(raw)
    except UsageError:
        return
    assert planted.link.url.startswith("http")
