"""The demo: real services and runbooks in a temporary folder, as a tour or as a conversation."""

from bot.demo.stage import play

__all__ = ["play"]
