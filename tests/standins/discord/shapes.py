"""The objects that Discord sends: what its own client library needs in them, and a little more."""

from tests.standins.discord.wire import Json

TEXT, DIRECT, PUBLIC_THREAD, FORUM = 0, 1, 11, 15
"""Kinds of channels. https://docs.discord.com/developers/resources/channel"""
CONTENT_LIMITED, MEMBERS_LIMITED = 1 << 19, 1 << 15
"""Flags of an application that may ask for the content of messages, and for members."""


def user(user_id: str, name: str, *, bot: bool = False) -> Json:
    """Return an account."""
    return {
        "id": user_id, "username": name, "discriminator": "0", "global_name": name.title(),
        "avatar": None, "bot": bot,
    }  # fmt: skip


def role(role_id: str, name: str, permissions: int, *, managed: bool = False) -> Json:
    """Return a role of a server."""
    colors = {"primary_color": 0, "secondary_color": None, "tertiary_color": None}
    return {
        "id": role_id, "name": name, "color": 0, "colors": colors, "hoist": False, "position": 1,
        "permissions": str(permissions), "managed": managed, "mentionable": True, "flags": 0,
    }  # fmt: skip


def member(account: Json, roles: list[str], *, nick: str | None = None) -> Json:
    """Return somebody in a server."""
    return {
        "user": account, "roles": roles, "nick": nick, "avatar": None, "banner": None,
        "joined_at": "2024-01-01T00:00:00+00:00", "premium_since": None, "deaf": False,
        "mute": False, "flags": 0, "pending": False,
    }  # fmt: skip


def channel(channel_id: str, guild: str, name: str, kind: int = TEXT) -> Json:
    """Return a channel of a server, or a forum."""
    made: Json = {
        "id": channel_id, "type": kind, "guild_id": guild, "name": name, "position": 0,
        "permission_overwrites": [], "nsfw": False, "topic": None, "last_message_id": None,
        "rate_limit_per_user": 0, "parent_id": None, "flags": 0,
    }  # fmt: skip
    if kind == FORUM:
        made |= {
            "available_tags": [], "default_reaction_emoji": None, "default_sort_order": None,
            "default_forum_layout": 0,
        }  # fmt: skip
    return made


def thread(thread_id: str, parent: Json, name: str, *, owner: str, at: str, **more: object) -> Json:
    """Return a public thread."""
    return {
        "id": thread_id, "type": PUBLIC_THREAD, "guild_id": parent["guild_id"], "name": name,
        "parent_id": parent["id"], "owner_id": owner, "last_message_id": None,
        "message_count": 0, "total_message_sent": 0, "member_count": 1, "rate_limit_per_user": 0,
        "flags": 0,
        "thread_metadata": {
            "archived": False, "locked": False, "auto_archive_duration": 1440,
            "archive_timestamp": at, "create_timestamp": at,
        },
        **more,
    }  # fmt: skip


def direct(channel_id: str, partner: Json) -> Json:
    """Return the direct messages with somebody."""
    return {
        "id": channel_id, "type": DIRECT, "recipients": [partner], "last_message_id": None,
        "flags": 0,
    }  # fmt: skip


def thread_member(thread_id: str, user_id: str, at: str) -> Json:
    """Return that somebody is in a thread."""
    return {"id": thread_id, "user_id": user_id, "join_timestamp": at, "flags": 0}


def guild(guild_id: str, name: str, owner: str, roles: list[Json]) -> Json:
    """Return a server, without what is in it."""
    return {
        "id": guild_id, "name": name, "icon": None, "splash": None, "discovery_splash": None,
        "owner_id": owner, "afk_channel_id": None, "afk_timeout": 60, "verification_level": 0,
        "default_message_notifications": 0, "explicit_content_filter": 0, "roles": roles,
        "emojis": [], "stickers": [], "features": [], "mfa_level": 0, "application_id": None,
        "system_channel_id": None, "system_channel_flags": 0, "rules_channel_id": None,
        "vanity_url_code": None, "description": None, "banner": None, "premium_tier": 0,
        "preferred_locale": "en-US", "public_updates_channel_id": None, "nsfw_level": 0,
        "premium_progress_bar_enabled": False, "safety_alerts_channel_id": None,
    }  # fmt: skip


def application(app: str, bot: Json, flags: int, owner: str) -> Json:
    """Return the application that the bot belongs to."""
    return {
        "id": app, "name": bot["username"], "icon": None, "description": "", "summary": "",
        "bot_public": False, "bot_require_code_grant": False, "verify_key": "00" * 32,
        "flags": flags, "owner": user(owner, "owner"), "team": None, "bot": bot,
        "interactions_endpoint_url": None, "redirect_uris": [], "tags": [],
    }  # fmt: skip


def message(message_id: str, channel_id: str, author: Json, at: str, **more: object) -> Json:
    """Return a message."""
    return {
        "id": message_id, "channel_id": channel_id, "author": author, "content": "",
        "timestamp": at, "edited_timestamp": None, "tts": False, "mention_everyone": False,
        "mentions": [], "mention_roles": [], "attachments": [], "embeds": [], "components": [],
        "pinned": False, "type": 0, "flags": 0, "reactions": [], **more,
    }  # fmt: skip
