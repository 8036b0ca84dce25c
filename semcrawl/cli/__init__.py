"""Code that the commands share."""

__all__ = ["scrapycommands"]
