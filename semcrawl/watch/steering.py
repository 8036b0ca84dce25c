"""The actions of operators: each checks what it is given, and changes a crawl's orders.

What contradicts a robots.txt is refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from protego import Protego
from scrapy.robotstxt import decode_robotstxt
from scrapy.settings import BaseSettings

from semcrawl.config.checks import START_URLS_KEY
from semcrawl.config.scope import listed
from semcrawl.crawl.crawllimits import Limits
from semcrawl.crawl.sharedrobots import RobotsAnswer
from semcrawl.crawl.standingorders import DOMAIN, EXCLUDE, HOST, INCLUDE, Orders, changed_orders
from semcrawl.errors import UsageError
from semcrawl.frontier.contract import Frontier, Rank, table_of
from semcrawl.middlewares.robots import RobotsRules, asked_delay
from semcrawl.settings.reader import fill
from semcrawl.spiders.seeds import seed_list, seed_url
from semcrawl.web.hosts import domain_key, netloc_of, origin_of
from semcrawl.web.robots import for_robot, names_of
from semcrawl.web.urls import Normalisation, normalise

#: by which an order came
COMMAND, PAGE = "command", "page"
#: longest delay in seconds, most words of an order, and most characters of each
_LONGEST_DELAY, _MOST_WORDS, _LONGEST_WORD = 86_400.0, 1000, 8000


@dataclass(slots=True)
class Order:
    """An order that is carried out."""

    frontier: Frontier
    settings: BaseSettings
    orders: Orders
    words: Sequence[str]
    #: whether it comes from this machine's command line, which may name files
    by_command: bool

    # -- what waits
    async def pause(self) -> None:
        """Send no request, to any host or to those named."""
        if not self.words:
            self.orders.paused = True
        held = self.orders.paused_hosts
        held += [host for host in map(_host, self.words) if host not in held]

    async def resume(self) -> None:
        """Go on with the crawl and all hosts, or with the hosts named."""
        named = set(map(_host, self.words))
        if not named:
            self.orders.paused = False
        held = self.orders.paused_hosts
        if missing := named - set(held):
            raise UsageError(f"{min(missing)} is not paused")
        self.orders.paused_hosts = [host for host in held if named and host not in named]

    async def stop(self) -> None:
        """Have the workers that run finish what is in flight, and end."""
        self.orders.stops += 1

    # -- limits
    async def block(self) -> None:
        """Set the links of hosts aside."""
        self._add(EXCLUDE, [f"host:{_host(word)}" for word in self.words])

    async def unblock(self) -> None:
        """Take the links of hosts back."""
        self._remove(EXCLUDE, [f"host:{_host(word)}" for word in self.words])

    async def exclude(self) -> None:
        """Set links aside that match patterns."""
        self._add(EXCLUDE, self.words)

    async def include(self) -> None:
        """Set links aside that match none of the patterns."""
        self._add(INCLUDE, self.words)

    async def unexclude(self) -> None:
        """Remove patterns of links set aside."""
        self._remove(EXCLUDE, self.words)

    async def uninclude(self) -> None:
        """Remove patterns of links to follow."""
        self._remove(INCLUDE, self.words)

    async def host_budget(self) -> None:
        """Bound what is asked of a host."""
        self._budget(HOST)

    async def domain_budget(self) -> None:
        """Bound what is asked of a pay-level domain."""
        self._budget(DOMAIN)

    async def reset(self) -> None:
        """Go back to the settings of each run, and to their order; go on with what is paused."""
        self.orders.limits = {}
        self.orders.paused, self.orders.paused_hosts = False, []
        await self._rank(list(self.orders.ranks), 0)

    # -- what is asked, and when
    async def seed(self) -> None:
        """Add seeds."""
        seeds = [seed_url(word, Normalisation(exact=True)) for word in self.words]
        for url in seeds:
            rules = await self._robots(origin_of(url))
            if rules is not None and not rules.can_fetch(url, self._agent):
                raise UsageError(f"the robots.txt of its host forbids {url}")
        pattern = self.settings.get("REDIS_START_URLS_KEY") or START_URLS_KEY
        await self.frontier.shared.push_seeds(seed_list(pattern, "html"), seeds)

    async def delay(self) -> None:
        """Set the seconds between two requests to a host, which may share them with its domain."""
        host, seconds = _host(self.words[0]), _seconds(self.words[1])
        least = await self._least_delay(host)
        if seconds < least:
            raise UsageError(f"the robots.txt of {host} asks for {least:g} s between two requests")
        key = await self._key(host)
        kept, concurrency = (await table_of(self.frontier.inspector, "pace")).get(key, (0.0, 1))
        # without an order, the pace is what robots.txt files of the domain ask for
        wanted = self.orders.delays[key][1] if key in self.orders.delays else kept
        if seconds < wanted:
            raise UsageError(f"a robots.txt of {key} asks for {wanted:g} s between two requests")
        self.orders.delays[key] = seconds, max(least, wanted)
        await self.frontier.pace.set(key, delay=seconds, concurrency=concurrency)

    async def prefer(self) -> None:
        """Take the links of hosts before those of others."""
        await self._rank(await self._keys(), 1)

    async def defer(self) -> None:
        """Take the links of hosts after those of others."""
        await self._rank(await self._keys(), -1)

    async def unrank(self) -> None:
        """Take the links of hosts among those of others again."""
        keys = await self._keys()
        if missing := set(keys) - self.orders.ranks.keys():
            raise UsageError(f"{min(missing)} comes neither first nor last")
        await self._rank(keys, 0)

    async def _keys(self) -> list[str]:
        return [await self._key(_host(word)) for word in self.words]

    async def _rank(self, keys: Sequence[str], rank: Rank) -> None:
        """Set the rank of units of politeness."""
        for key in keys:
            await self.frontier.pace.rank(key, rank)
            self.orders.ranks.pop(key, None)
            if rank:
                self.orders.ranks[key] = rank

    async def _key(self, host: str) -> str:
        """Return the unit of politeness of a host."""
        by_domain = await self.frontier.shared.get("pace-by") == b"domain"
        return domain_key(f"http://{host}/") if by_domain else host

    async def _least_delay(self, host: str) -> float:
        """Return the seconds that the robots.txt of a host asks for, as far as it is known."""
        longest = fill(RobotsRules, self.settings).longest_delay
        found = [
            asked_delay(rules, self._agent) or 0.0
            for scheme in ("http", "https")
            if (rules := await self._robots(f"{scheme}://{host}")) is not None
        ]
        return min(longest, max(found, default=0.0))

    async def _robots(self, origin: str) -> Protego | None:
        """Return the rules of an origin; ``None`` if they are not known or not obeyed."""
        content = await self.frontier.shared.get(f"robots:{origin}")
        if content is None or not self.settings.getbool("ROBOTSTXT_OBEY"):
            return None
        try:
            rules = RobotsAnswer.unpack(content).rules
        except ValueError:
            return None  # the worker that reads it next reports it
        return Protego.parse(for_robot(decode_robotstxt(rules, None), names_of(self._agent)))

    @property
    def _agent(self) -> str:
        settings = self.settings
        return str(settings.get("ROBOTSTXT_USER_AGENT") or settings.get("USER_AGENT"))

    def _add(self, name: str, patterns: Sequence[str]) -> None:
        if not self.by_command and any(each.lstrip().startswith("@") for each in patterns):
            raise UsageError("only the command line may name files of patterns")
        patterns = listed({name: list(patterns)}, name)  # other machines do not have the files
        kept = self.orders.limits.get(name) or []
        self.orders.limits[name] = list(dict.fromkeys([*kept, *patterns]))
        limits = Limits.from_settings(self.settings, self.orders.limits)
        if faults := [fault for fault in limits.faults() if any(p in fault for p in patterns)]:
            raise UsageError(faults[0])

    def _remove(self, name: str, patterns: Sequence[str]) -> None:
        kept = self.orders.limits.get(name) or []
        if missing := set(patterns) - set(kept):
            raise UsageError(f"no order has the pattern {min(missing)!r}")
        self.orders.limits[name] = [each for each in kept if each not in patterns]

    def _budget(self, name: str) -> None:
        self.orders.limits[name] = "" if self.words[0] == "none" else self.words[0]
        Limits.from_settings(self.settings, self.orders.limits)


@dataclass(frozen=True, slots=True)
class Action:
    """An action by its name: what it does, its words, and how few and how many there are."""

    does: Callable[[Order], Awaitable[None]]
    words: str = ""
    least: int = 0
    most: int = _MOST_WORDS


#: the actions by name
ACTIONS = {
    "pause": Action(Order.pause, "[HOST…]"),
    "resume": Action(Order.resume, "[HOST…]"),
    "block": Action(Order.block, "HOST…", 1),
    "unblock": Action(Order.unblock, "HOST…", 1),
    "add-exclude": Action(Order.exclude, "PATTERN…", 1),
    "remove-exclude": Action(Order.unexclude, "PATTERN…", 1),
    "add-include": Action(Order.include, "PATTERN…", 1),
    "remove-include": Action(Order.uninclude, "PATTERN…", 1),
    "host-budget": Action(Order.host_budget, "BOUNDS|none", 1, 1),
    "domain-budget": Action(Order.domain_budget, "BOUNDS|none", 1, 1),
    "delay": Action(Order.delay, "HOST SECONDS", 2, 2),
    "prefer": Action(Order.prefer, "HOST…", 1),
    "defer": Action(Order.defer, "HOST…", 1),
    "unrank": Action(Order.unrank, "HOST…", 1),
    "seed": Action(Order.seed, "URL…", 1),
    "stop": Action(Order.stop, "", 0, 0),
    "reset": Action(Order.reset, "", 0, 0),
}


def check_action(words: Sequence[str]) -> Action:
    """Return the action that words begin with; raise ``UsageError`` for wrong ones."""
    name = words[0] if words else ""
    action = ACTIONS.get(name)
    if action is None:
        raise UsageError(f"there is no action {name[:50]!r}; there are {', '.join(ACTIONS)}")
    if not action.least <= len(words) - 1 <= action.most:
        raise UsageError(f"usage: {name} {action.words}".rstrip())
    if any(len(word) > _LONGEST_WORD or not word.isprintable() for word in words):
        raise UsageError(f"{name}: a word is too long or cannot be printed")
    return action


async def obey(frontier: Frontier, settings: BaseSettings, words: Sequence[str], by: str) -> Orders:
    """Carry out an action, note it, and return the orders that hold now.

    Raises ``UsageError`` for wrong words and for what a robots.txt forbids; nothing changes then.
    """
    action = check_action(words)
    async with changed_orders(frontier) as orders:
        await action.does(Order(frontier, settings, orders, words[1:], by == COMMAND))
        orders.note(by, " ".join(words))
    return orders


def _host(text: str) -> str:
    """Return a host, perhaps with a port, as addresses spell it."""
    address = text if "://" in text else f"http://{text}/"
    host = netloc_of(normalise(address, Normalisation(exact=True)) or "")
    if not host or ("://" not in text and not set(text).isdisjoint("/?#@\\")):
        raise UsageError(f"{text[:100]!r} is no host")
    return host


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not (isfinite(seconds) and 0 <= seconds <= _LONGEST_DELAY):
        raise UsageError(f"a delay is 0 to {_LONGEST_DELAY:,.0f} seconds, not {text[:50]!r}")
    return seconds
