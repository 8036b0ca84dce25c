"""Domains drawn by what they gave."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.crawl.learning import decode_event, encode_event
from semcrawl.errors import UsageError
from semcrawl.links import Link, Page
from semcrawl.relevance import Outcome, load_strategy
from semcrawl.relevance.contract import Label
from semcrawl.relevance.domains import Counts, Domain, Roulette, Share, Votes
from semcrawl.web.vocabulary import Kind

SETTINGS = {"SEMCRAWL_TARGETS": "image/png", "SEMCRAWL_ABOUT": "keywords:red circle"}


def draw(wheel, times):
    """Let the wheel turn."""
    drawn = Counter()
    for _ in range(times):
        name = min(wheel.clocks, key=wheel.rings)
        wheel.turn(name)
        drawn[name] += 1
    return drawn


class TestRoulette:
    """A wheel that changes one clock a turn."""

    @pytest.mark.parametrize("seed", [0, 1])
    def test_names_come_as_often_as_the_softmax_says(self, seed):
        wheel, scores = Roulette(0.25, seed), {"a": 0.2, "b": 0.5, "c": 0.6, "d": 1.0}
        for name, score in scores.items():
            wheel.add(name, score)
        drawn, weights = draw(wheel, 20_000), {n: math.exp(s / 0.25) for n, s in scores.items()}
        for name, weight in weights.items():
            share = weight / sum(weights.values())
            assert drawn[name] / 20_000 == pytest.approx(share, abs=4 * (share / 20_000) ** 0.5)

    def test_a_new_score_counts_from_the_next_turn_on(self):
        wheel = Roulette(0.5)
        for name in ("a", "b"):
            wheel.add(name, 0.5)
        draw(wheel, 5_000)
        wheel.score("a", 0.5 + 0.5 * math.log(3))
        drawn = draw(wheel, 20_000)
        assert drawn["a"] / 20_000 == pytest.approx(0.75, abs=0.02)

    def test_draws_are_independent(self):
        """After a name it is as likely as ever that it comes again."""
        wheel = Roulette(1.0)
        for name in "abcd":
            wheel.add(name, 0.5)
        names = []
        for _ in range(20_000):
            name = min(wheel.clocks, key=wheel.rings)
            wheel.turn(name)
            names.append(name)
        again = sum(one == two for one, two in pairwise(names))
        assert again / len(names) == pytest.approx(0.25, abs=0.015)

    def test_the_seed_decides(self):
        orders = []
        for seed in (1, 1, 2):
            wheel = Roulette(0.5, seed)
            for name in "abcdef":
                wheel.add(name, 0.5)
            orders.append([min(wheel.clocks, key=wheel.rings), *map(wheel.rings, "abcdef")])
        assert orders[0] == orders[1] != orders[2]

    @given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20))
    def test_no_score_is_too_large(self, scores):
        wheel = Roulette(0.005)
        wheel.add("a", scores[0])
        for score in scores:
            wheel.score("a", score)
            wheel.turn("a")
            assert math.isfinite(wheel.rings("a"))


class TestScore:
    """Linear regression with a learning rate per domain."""

    def test_a_domain_of_which_nothing_was_seen_counts_as_the_crawl_does(self):
        crawl = Counts(images=Share(30, 98), texts=Share(8, 98))
        assert Domain().inputs(crawl) == (1.0, 0.31, 0.09, 0.0)

    def test_its_own_shares_count_once_much_was_seen(self):
        domain = Domain(Counts(Share(50, 98), Share(0, 98), Share(3, 4)))
        assert domain.inputs(Counts()) == (1.0, 0.51, 0.01, 0.75)

    def test_it_comes_to_predict_what_the_domain_gives(self):
        """Where that hangs on the inputs, the weights become those of the line."""
        domain, crawl = Domain(), Counts()
        for n in range(30_000):
            domain.counts = Counts(Share(n % 7 * 10, 70), Share(n % 5 * 10, 50), Share(n % 3, 3))
            _, x1, x2, x3 = domain.inputs(crawl)
            domain.learned = 0  # a steady rate
            domain.learn(crawl, 0.1 + 0.5 * x1 + 0.2 * x2 - 0.1 * x3, 0.3)
        assert domain.weights == pytest.approx([0.1, 0.5, 0.2, -0.1], abs=0.01)

    def test_the_learning_rate_is_the_domains_own_and_sinks(self):
        one, other = Domain(learned=3), Domain()
        assert one.rate(0.1) == 0.05
        assert other.rate(0.1) == 0.1


class TestVotes:
    """Pages are scored by those that link to them."""

    @staticmethod
    def votes(**pages):
        votes = Votes(lambda url: url.split("/")[0], lambda url: 2.0)
        for page, (matching, seen) in pages.items():
            votes.count(page.replace("_", "/"), matching, seen)
        return votes

    def test_a_new_page_gets_the_mean_of_its_neighbours_in_the_domain(self):
        votes = self.votes(a_1=(1, 2), a_2=(0, 4), b_1=(9, 9))
        for page in ("a/1", "a/2", "b/1"):
            votes.cite(page, "a/new")
        assert votes.score("a/new") == 0.25

    def test_without_neighbours_groups_of_domains_count(self):
        """Σ ScoreLink(P)·priority(P) / count of each, and the mean of these."""
        votes = self.votes(b_1=(1, 2), b_2=(0, 1), c_1=(1, 4))
        for page in ("b/1", "b/2", "c/1"):
            votes.cite(page, "a/new")
        assert votes.score("a/new") == ((0.5 * 2 + 0) / 2 + 0.25 * 2) / 2

    def test_of_many_groups_some_are_chosen_at_random(self):
        votes = self.votes(**{f"d{n}_1": (n % 2, 1) for n in range(10)})
        votes.groups = 1
        for n in range(10):
            votes.cite(f"d{n}/1", "a/x")
            votes.cite(f"d{n}/1", "a/y")
        scores = {(seed, url): 0.0 for seed in range(8) for url in ("a/x", "a/y")}
        for seed, url in scores:
            votes.seed = seed
            scores[seed, url] = votes.score(url)
            assert votes.score(url) == scores[seed, url]
        assert set(scores.values()) == {0.0, 2.0}

    def test_pages_that_link_to_a_failing_page_lose_score_and_regain_it(self):
        votes = self.votes(a_1=(2, 2), b_1=(1, 1), c_1=(1, 1))
        for page in ("a/1", "b/1"):
            votes.cite(page, "x/down")
        votes.fetched("x/down", ok=False)
        votes.fetched("x/down", ok=False)
        assert (votes.of("a/1"), votes.of("b/1"), votes.of("c/1")) == (2 / 3, 0.5, 1.0)
        votes.fetched("x/down", ok=True)
        assert (votes.of("a/1"), votes.of("b/1")) == (1.0, 1.0)


def page_of(host, *texts):
    """A page, and its links: an image with each of the texts around it."""
    page = Page(f"http://{host}.example/")
    images = [
        Link(f"{page.url}{n}.png", "img", before=text, position=n) for n, text in enumerate(texts)
    ]
    return page, images


def read(strategy, page, links):
    """Have a page read and learned."""
    strategy.taken([page.url])
    strategy.cited(page, links)
    new = tuple(r for r in strategy.rank(page, links) if r.group)
    outcome = Outcome(page.url, Kind.HTML, False, page.url, depth=0, status=200, new_links=new)
    strategy.learn(outcome)
    return new, outcome


class TestDomainScore:
    """The strategy as a whole."""

    def test_images_with_the_right_words_come_first_then_pages_then_others(self):
        strategy = load_strategy("domain-score", SETTINGS)
        page, images = page_of("a", "A red circle", "a blue square")
        more = Link(page.url + "more")
        new, _ = read(strategy, page, [images[1], more, images[0]])
        order = sorted(new, key=lambda ranked: ranked.key)
        assert [ranked.link for ranked in order] == [images[0], more, images[1]]
        assert {ranked.group for ranked in new} == {"domain a.example"}

    def test_a_domain_that_gives_what_is_wanted_is_drawn_more_often(self):
        strategy = load_strategy("domain-score", SETTINGS)
        for host, text in (("rich", "a red circle"), ("poor", "nothing")):
            page, images = page_of(host, *[text] * 4)
            new, _ = read(strategy, page, images)
            for ranked in new:
                strategy.taken([ranked.link.url])
                strategy.learn(
                    Outcome(
                        ranked.link.url, Kind.OTHER, host == "rich", parent=page.url, status=200,
                        label=ranked.label, group=ranked.group,
                    )
                )  # fmt: skip
        rich, poor = (strategy.domains[f"{name}.example"] for name in ("rich", "poor"))
        assert rich.score(strategy.crawl) > poor.score(strategy.crawl) + 0.3
        drawn = draw(strategy.wheel, 1000)
        assert drawn["rich.example"] > 5 * drawn["poor.example"]

    def test_a_turn_changes_the_value_of_its_domain_only(self):
        strategy = load_strategy("domain-score", SETTINGS)
        for n in range(30):
            read(strategy, *page_of(f"d{n}", "x"))
        strategy.values()
        strategy.taken(["http://d3.example/0.png"])
        assert set(strategy.values()) == {"domain d3.example"}

    def test_other_workers_learn_the_same(self):
        """Who hears of all outcomes draws the same domains."""
        one, other = (load_strategy("domain-score", SETTINGS) for _ in range(2))
        for host in ("a", "b", "c"):
            page, images = page_of(host, "a red circle", "x")
            new, outcome = read(one, page, images)
            other.learn(decode_event(encode_event(outcome)))
            for ranked in new:
                one.taken([ranked.link.url])
                event = Outcome(
                    ranked.link.url, Kind.OTHER, host == "b", parent=page.url, status=200,
                    label=ranked.label,
                )  # fmt: skip
                assert one.worth_telling(event)
                one.learn(event)
                other.learn(decode_event(encode_event(event)))
        assert other.domains == one.domains
        assert {n: c.rings for n, c in other.wheel.clocks.items()} == pytest.approx(
            {n: c.rings for n, c in one.wheel.clocks.items()}
        )
        assert other.votes.pages == one.votes.pages

    def test_a_state_goes_on_as_if_nothing_had_been(self):
        one, two = (load_strategy("domain-score", SETTINGS) for _ in range(2))
        read(one, *page_of("a", "a red circle", "x"))
        two.load_state(one.dump_state())
        for strategy in (one, two):
            read(strategy, *page_of("b", "a red circle"))
        assert two.domains == one.domains
        assert two.wheel.clocks == one.wheel.clocks
        assert two.votes.score("http://b.example/0") == one.votes.score("http://b.example/0")

    def test_a_page_that_another_one_links_to_moves(self):
        strategy = load_strategy("domain-score", SETTINGS)
        more = Link("http://a.example/more")
        for path, text in (("1", "x"), ("2", "a red circle")):
            page = Page(f"http://a.example/{path}")
            read(strategy, page, [Link(f"{page.url}.png", "img", before=text), more])
        assert strategy.rekeyed() == {more.url: -0.5}

    def test_it_says_why(self):
        strategy = load_strategy("domain-score", SETTINGS)
        page, images = page_of("a", "a red circle")
        read(strategy, page, images)
        rows = dict(strategy.explain(page, images[0]))
        assert re.fullmatch(
            r"0\.\d+ = (0\.\d+·\d\.\d+ \+ ){3}.* after 1 fetches", rows["domain a.example"]
        )
        assert rows["label"] == Label.R
        assert "page score" in dict(strategy.explain(page, Link(page.url + "more")))

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("SEMCRAWL_DOMAIN_TEMPERATURE", 0),
            ("SEMCRAWL_DOMAIN_GROUPS", "many"),
            ("SEMCRAWL_RANDOM_SEED", 1 << 70),
        ],
    )
    def test_wrong_settings_are_refused_in_a_line(self, name, value):
        with pytest.raises(UsageError, match=name):
            load_strategy("domain-score", {name: value})
