"""For scrapyd-deploy, which builds an egg by this file; everything else is in pyproject.toml."""

from setuptools import setup

setup()
