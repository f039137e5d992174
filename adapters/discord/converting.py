"""discord.py's objects as plain values. The only place that reads what they keep to themselves."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, TypeAlias, TypeGuard

import discord

from adapters.discord.seen import (
    Command,
    Pressed,
    Removed,
    Rewritten,
    Submitted,
    Where,
    Who,
    Written,
)

Channel: TypeAlias = object
"""Whatever discord.py gives where a channel is: there are a dozen kinds, and one for no kind."""
_NEW = timedelta(minutes=1)
"""For so long after a thread was opened somebody may write in it before Sayso knows its id."""
_PLAIN = frozenset({discord.MessageType.default, discord.MessageType.reply})


def where(channel: Channel, guild: int | None = None) -> Where | None:
    """Return where something is; None where Discord names no channel."""
    number = getattr(channel, "id", None)
    if number is None:
        return None
    if isinstance(channel, discord.DMChannel | discord.GroupChannel):
        return Where(guild=None, channel=str(number))
    of = guild or _guild(channel)
    parent = channel.parent_id if isinstance(channel, discord.Thread) else None
    return Where(
        guild=str(of) if of else None,
        channel=str(number),
        parent=str(parent) if parent else None,
        is_ours=_is_ours(channel),
        is_new=_is_ours(channel) and _is_new(channel),
    )


def _is_ours(channel: object) -> TypeGuard[discord.Thread]:
    """Whether Sayso opened a thread."""
    if not isinstance(channel, discord.Thread):
        return False
    return channel.owner_id == getattr(channel.guild.me, "id", None)


def _is_new(thread: discord.Thread) -> bool:
    """Whether a thread was opened just now."""
    return thread.created_at is not None and discord.utils.utcnow() - thread.created_at < _NEW


def is_known(channel: Channel) -> bool:
    """Whether it is known if it is a thread: of one that was archived discord.py knows nothing."""
    return not isinstance(channel, discord.PartialMessageable)


def who(user: "discord.abc.User", *, webhook: int | None = None) -> Who:
    """Return who somebody is."""
    is_software = user.bot or bool(getattr(user, "system", False)) or webhook is not None
    return Who(user=str(user.id), is_software=is_software)


def written(message: discord.Message) -> Written | None:
    """Return a message; None where Discord does not say where it is."""
    place = where(message.channel, message.guild.id if message.guild else None)
    if place is None:
        return None
    return Written(
        id=str(message.id),
        author=who(message.author, webhook=message.webhook_id),
        where=place,
        text=message.content,
        names=dict(_names(message)),
        answers=_answers(message),
        is_plain=message.type in _PLAIN,
    )


def rewritten(event: discord.RawMessageUpdateEvent) -> Rewritten | None:
    """Return a message that was changed."""
    now = written(event.message)
    if now is None:
        return None
    at = event.message.edited_at
    before = event.cached_message.content if event.cached_message else None
    return Rewritten(now=now, edited=at.isoformat() if at else None, before=before)


def removed(before: discord.Message) -> Removed | None:
    """Return that a message is gone: of whom it was, only what is remembered of it tells."""
    gone = written(before)
    return Removed(id=gone.id, where=gone.where, author=gone.author) if gone else None


def interacted(interaction: "discord.Interaction[Any]") -> Command | Pressed | Submitted | None:
    """Return a command, a button or a form; None for what is none of these or names no channel."""
    place = where(interaction.channel, interaction.guild_id)
    data: Mapping[str, Any] = {**(interaction.data or {})}
    if place is None or interaction.user is discord.utils.MISSING:
        return None
    number, by, custom_id = str(interaction.id), who(interaction.user), data.get("custom_id", "")
    match interaction.type:
        case discord.InteractionType.application_command:
            return Command(
                interaction=number,
                name=str(data.get("name", "")),
                text=_typed(data),
                by=by,
                where=place,
            )
        case discord.InteractionType.component:
            return Pressed(
                interaction=number,
                custom_id=custom_id,
                by=by,
                where=place,
                message=str(interaction.message.id) if interaction.message else None,
            )
        case discord.InteractionType.modal_submit:
            return Submitted(
                interaction=number,
                custom_id=custom_id,
                by=by,
                where=place,
                fields=dict(_fields(data.get("components"))),
            )
        case _:
            return None


def roles(interaction: "discord.Interaction[Any]") -> frozenset[str] | None:
    """Return the ids of the roles that somebody had when they did it; None in a direct message.

    As Discord wrote them: `Member.roles` leaves out what the cache of the server does not hold. None
    as well for somebody whose roles count for nothing, as of now: then Discord is asked about them.
    """
    by = interaction.user
    if not isinstance(by, discord.Member) or by.pending or by.timed_out_until is not None:
        return None
    return frozenset(str(role) for role in by._roles)  # noqa: SLF001


def _guild(channel: Channel) -> int | None:
    """Return the server of a channel: without one in the cache, only its number is there."""
    guild = getattr(channel, "guild", None)
    return guild.id if guild is not None else getattr(channel, "guild_id", None)


def _names(message: discord.Message) -> Iterator[tuple[str, str]]:
    for user in message.mentions:
        yield f"<@{user.id}>", user.display_name
        yield f"<@!{user.id}>", user.display_name
    for role in message.role_mentions:
        yield f"<@&{role.id}>", role.name
    for channel in message.channel_mentions:
        yield f"<#{channel.id}>", getattr(channel, "name", "")


def _answers(message: discord.Message) -> str | None:
    if message.type is not discord.MessageType.reply or message.reference is None:
        return None
    answered = message.reference.resolved
    return str(answered.author.id) if isinstance(answered, discord.Message) else None


def _typed(data: Mapping[str, Any]) -> str:
    """Return what was typed into the one field of a command."""
    options = data.get("options") or ()
    return str(options[0].get("value", "")) if options else ""


def _fields(components: object) -> Iterator[tuple[str, str]]:
    """Return the fields of a form, however deep a row or a label holds them."""
    for part in components if isinstance(components, list) else ():
        if isinstance(part.get("custom_id"), str) and "value" in part:
            yield part["custom_id"], str(part["value"])
        elif isinstance(part.get("custom_id"), str) and isinstance(part.get("values"), list):
            yield part["custom_id"], str([*part["values"], ""][0])
        yield from _fields(part.get("components"))
        yield from _fields([part["component"]] if "component" in part else None)
