"""Sayso's own Discord: REST of version 10 and the gateway, on 127.0.0.1.

A test starts it with `async with FakeDiscord() as discord` and points a client at
`discord.api_url` and `discord.gateway_url`. There are the server, the channel and the people of
the contract; more come by `discord.world`. From then on:

- people write, press and send forms through `discord.people`; what is done with the app returns an
  interaction, which says what its person saw: `said`, `alone`, `modal`, `failed`;
- what the app did is read from `seen_in`, `messages`, `buttons`, `edits`, `threads`, `pinged`,
  `calls`, once `discord.until` says that it is there;
- what goes wrong is said to `discord.faults`, `discord.rates`, `discord.gateway`, and to
  `discord.world`: `deny`, `privileged`, `shut_to_bot`; time passes by `discord.passes`.

It refuses what the real one is known to refuse. Not checked against the real one: the status that
comes with 160005, whether a nonce counts per channel, and who is told of a thread's first message.
"""

from tests.standins.discord.fake import FakeDiscord
from tests.standins.discord.interactions import Interaction, Modal
from tests.standins.discord.times import Time
from tests.standins.discord.wire import Json
from tests.standins.discord.world import ALICE, BOB, BOT, CAROL, GUILD, MALLORY, OPS

__all__ = [
    "ALICE", "BOB", "BOT", "CAROL", "GUILD", "MALLORY", "OPS",
    "FakeDiscord", "Interaction", "Json", "Modal", "Time",
]  # fmt: skip
