"""Sayso's own Slack: Web API, Socket Mode, response URLs and signed deliveries, on 127.0.0.1."""

from tests.standins.slack.delivery import Delivery
from tests.standins.slack.fake import FakeSlack
from tests.standins.slack.http import Broken, post_signed
from tests.standins.slack.times import Time
from tests.standins.slack.wire import Json

__all__ = ["Broken", "Delivery", "FakeSlack", "Json", "Time", "post_signed"]
