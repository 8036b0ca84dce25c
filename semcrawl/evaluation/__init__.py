"""Trying strategies on closed pieces of the web, and measuring what they find."""
