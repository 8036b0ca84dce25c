"""The conformance suite: what every frontier does, by the contracts of ``semcrawl.frontier``.

Every test here gets its frontiers from the fixtures ``open_frontier`` or ``backend`` (in
``../conftest.py``), and so runs on each of ``../backends.py``: on the embedded Redis that a crawl
starts by itself, and on a served one. Nothing here knows a backend.
"""
