"""The conformance suite: what every frontier does, on an embedded and on a served Redis.

Every test here gets its frontiers from the fixture ``open_frontier`` (in ``../conftest.py``), and
so runs twice: on the embedded Redis that a crawl starts by itself, and on a served one. A further
kind of server is one more parameter of the fixture ``address``.
"""
