"""What somebody wrote in a channel, a thread or a direct message. Pure."""

from adapters.slack import payload, typed
from adapters.slack.findings import Act, Bot, Finding, Ignored, Sentence
from adapters.slack.payload import Payload
from adapters.slack.posts import Post, post_of
from core import chat_commands
from core.chat_commands import Heard, Meaning
from core.commands import after_mark, is_stop
from core.events import Edited
from core.terminal import Mistyped


def written(body: Payload, bot: Bot, *, mentions_only: bool) -> Finding:
    """Read a new message. `message` and `app_mention` both tell of one that mentions Sayso."""
    event = payload.of(body.get("event"))
    # An edit that adds a mention comes as a mention once more.
    if event.get("hidden") or event.get("edited"):
        return Ignored(why="it is of a kind that Sayso does not read")
    post = post_of(body, event, bot)
    if isinstance(post, Ignored):
        return post
    called = event.get("type") == "app_mention" or typed.mentions(post.raw, bot.user)
    if called or post.is_direct:
        return _said(post, body, bot)
    if not _may_be_for_us(post, bot, mentions_only=mentions_only):
        return Ignored(why="nobody spoke to Sayso")
    return _overheard(post, body, bot)


def _may_be_for_us(post: Post, bot: Bot, *, mentions_only: bool) -> bool:
    """Whether a message that does not call Sayso may be for it: as part of a conversation."""
    if not post.in_thread or typed.begins_with_a_mention(post.raw):
        return False
    # Stopping cannot be configured away.
    return not mentions_only or is_stop(typed.read(post.raw, bot.user))


def edited(body: Payload, bot: Bot) -> Finding:
    """Read that a message has other words now, or that nothing but its preview changed."""
    now = payload.of(payload.at(body, "event", "message"))
    before = payload.of(payload.at(body, "event", "previous_message"))
    if now.get("subtype") == "tombstone":
        return gone(body, bot)
    post = post_of(body, now, bot)
    if isinstance(post, Ignored):
        return post
    text, was = (typed.read(payload.text(one, "text"), bot.user) for one in (now, before))
    if text == was or not (before or now.get("edited")):
        return Ignored(why="it is an edit that changes no word")
    return _edited(post, text)


def gone(body: Payload, bot: Bot) -> Finding:
    """Read that a message was taken back."""
    post = post_of(body, payload.of(payload.at(body, "event", "previous_message")), bot)
    return post if isinstance(post, Ignored) else _edited(post, "")


def _edited(post: Post, text: str) -> Act:
    event = Edited(identity=post.identity, place=post.place, delivery=post.delivery, text=text)
    return Act(event=event, route=post.route, kind="event")


def _said(post: Post, body: Payload, bot: Bot) -> Finding:
    """Read what somebody said to Sayso."""
    text = typed.read(post.raw, bot.user)
    heard = _heard(post, body, known_only=False)
    return _found(chat_commands.read(text, heard) or chat_commands.ask(text, heard), post)


def _overheard(post: Post, body: Payload, bot: Bot) -> Finding:
    """Read what stands in a thread that may be a conversation of ours or anybody else's."""
    text = typed.read(post.raw, bot.user)
    if not text:
        return Ignored(why="there is no text in it")
    heard = _heard(post, body, known_only=True)
    is_command = is_stop(text) or after_mark(text) is not None
    found = chat_commands.read(text, heard) if is_command else None
    return _found(found or chat_commands.ask(text, heard), post)


def _heard(post: Post, body: Payload, *, known_only: bool) -> Heard:
    event = payload.name(body, "event_id")
    return Heard(
        identity=post.identity,
        place=post.place,
        in_thread=post.in_thread,
        known_only=known_only,
        deliveries=(post.delivery, *([f"event:{event}"] if event else [])),
    )


def _found(found: Meaning, post: Post) -> Act | Sentence:
    if isinstance(found, Mistyped):
        return Sentence(text=found.sentence, route=post.route)
    return Act(event=found, route=post.route, kind="event")
