"""Being brought into a server: by whom, and where newcomers are greeted there."""

import discord

from adapters.discord import converting
from adapters.discord.seen import Added, Who


async def added(guild: discord.Guild) -> Added | None:
    """Return that Sayso was brought into a server; None where it may write nowhere in it."""
    channel = _channel(guild)
    by = await _inviter(guild) or _owner(guild)
    if channel is None or by is None:
        return None
    return Added(guild=str(guild.id), channel=str(channel.id), by=by)


def _channel(guild: discord.Guild) -> discord.TextChannel | None:
    every = [guild.system_channel, *guild.text_channels]
    return next((one for one in every if one is not None and _may_write(one)), None)


def _may_write(channel: discord.TextChannel) -> bool:
    mine = channel.permissions_for(channel.guild.me)
    return mine.view_channel and mine.send_messages


async def _inviter(guild: discord.Guild) -> Who | None:
    """Return who brought Sayso there, where it may read that."""
    if not guild.me.guild_permissions.view_audit_log:
        return None
    try:
        action = discord.AuditLogAction.bot_add
        async for entry in guild.audit_logs(limit=10, action=action):
            if entry.user is not None and getattr(entry.target, "id", None) == guild.me.id:
                return converting.who(entry.user)
    except discord.DiscordException:
        return None
    return None


def _owner(guild: discord.Guild) -> Who | None:
    return Who(user=str(guild.owner_id)) if guild.owner_id else None
