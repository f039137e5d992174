"""What members may do: Discord's bits, and the order in which a channel's overwrites count.

https://docs.discord.com/developers/topics/permissions
"""

from tests.standins.discord.wire import Json, objects

BITS = {
    "administrator": 1 << 3,
    "manage_channels": 1 << 4,
    "manage_guild": 1 << 5,
    "add_reactions": 1 << 6,
    "view_audit_log": 1 << 7,
    "view_channel": 1 << 10,
    "send_messages": 1 << 11,
    "manage_messages": 1 << 13,
    "embed_links": 1 << 14,
    "attach_files": 1 << 15,
    "read_message_history": 1 << 16,
    "mention_everyone": 1 << 17,
    "manage_roles": 1 << 28,
    "manage_webhooks": 1 << 29,
    "use_application_commands": 1 << 31,
    "manage_threads": 1 << 34,
    "create_public_threads": 1 << 35,
    "create_private_threads": 1 << 36,
    "send_messages_in_threads": 1 << 38,
}
ALL = sum(BITS.values())
USUAL = (
    "add_reactions", "view_channel", "send_messages", "embed_links", "attach_files",
    "read_message_history", "use_application_commands", "create_public_threads",
    "send_messages_in_threads",
)  # fmt: skip
"""What everybody may do unless a test says otherwise."""


def bits(*names: str) -> int:
    """Return the number that stands for permissions."""
    return sum(BITS[name] for name in set(names))


def granted(roles: list[Json], overwrites: object, *, everyone: str, member: str) -> int:
    """Return what somebody with these roles may do below these overwrites."""
    allowed = 0
    for role in roles:
        allowed |= int(role["permissions"])
    if allowed & BITS["administrator"]:
        return ALL
    own = {str(role["id"]) for role in roles} - {everyone}
    for layer in ({everyone}, own, {member}):
        there = [each for each in objects(overwrites) if each["id"] in layer]
        for each in there:
            allowed &= ~int(each["deny"])
        for each in there:
            allowed |= int(each["allow"])
    return allowed
