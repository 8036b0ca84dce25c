"""Settings of semcrawl, in Scrapy's manner.

Every setting of ours starts with ``SEMCRAWL_`` and is described by the ``#:`` comment above it
(meaning, unit); ``docs/settings.md`` is made from these comments.
"""

# --- Scrapy's own settings, with our defaults

BOT_NAME = "semcrawl"
SPIDER_MODULES = ["semcrawl.spiders"]
NEWSPIDER_MODULE = "semcrawl.spiders"
COMMANDS_MODULE = "semcrawl.commands"
