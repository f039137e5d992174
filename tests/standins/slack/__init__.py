"""Sayso's own Slack: Web API, Socket Mode, response URLs and signed deliveries, on 127.0.0.1.

A test starts it with `async with FakeSlack() as slack`, says who there is (`slack.work.person`,
`slack.work.channel`), points a client at `slack.base_url`, and from then on:

- people write through `slack.people` and press through `slack.hands`;
- what the app did is read from `slack.thread`, `buttons`, `ephemerals`, `views`, `edits`, `calls`,
  once `slack.until` says that it is there;
- what goes wrong is said to `slack.faults`, `slack.sockets` and `slack.work.time`.

It refuses what the real one is known to refuse. Not checked against the real one: the error for a
reply below a message that is not there, and how a plain text with entities in it is drawn.
"""

from tests.standins.slack.delivery import Delivery
from tests.standins.slack.fake import FakeSlack
from tests.standins.slack.http import Broken, post_signed
from tests.standins.slack.times import Time
from tests.standins.slack.wire import Json

__all__ = ["Broken", "Delivery", "FakeSlack", "Json", "Time", "post_signed"]
