"""semcrawl in somebody else's Scrapy project.

One line in the project's settings switches all parts on::

    ADDONS = {"semcrawl.addon.Addon": 500}

It brings the spiders ``html`` and ``rdf`` (which run on our frontier), the pipelines, which take
:class:`~semcrawl.items.RdfDocument` and :class:`~semcrawl.items.FetchRecord` items from the
project's own spiders too, the feed formats, and every ``SEMCRAWL_*`` setting with its default.
The project's own spiders keep their scheduler and downloader middlewares.
"""

from __future__ import annotations

from scrapy.settings import BaseSettings

from semcrawl.config.components import install_results


class Addon:
    """The add-on; it has no options of its own beyond the ``SEMCRAWL_*`` settings."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Bring the spiders."""
        modules = settings.getlist("SPIDER_MODULES")
        if "semcrawl.spiders" not in modules:
            priority = settings.getpriority("SPIDER_MODULES") or 0
            settings.set("SPIDER_MODULES", [*modules, "semcrawl.spiders"], priority)

    def update_settings(self, settings: BaseSettings) -> None:
        """Bring pipelines, feed formats and the defaults of our settings."""
        install_results(settings)
