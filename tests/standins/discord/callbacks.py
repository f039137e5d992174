"""How the app answers what somebody did: the first answer, and what it may do afterwards.

https://docs.discord.com/developers/interactions/receiving-and-responding
"""

from tests.standins.discord import components, limits, posting
from tests.standins.discord.interactions import (
    ANSWER,
    COMMAND,
    COMPONENT,
    MODAL,
    SILENCE,
    SUBMIT,
    THINKING,
    UPDATE,
    Interaction,
    Modal,
)  # fmt: skip
from tests.standins.discord.routes import Asked, route
from tests.standins.discord.state import State
from tests.standins.discord.wire import DiscordSays, Json, copied, one, unknown, wrong
from tests.standins.discord.world import Message

HOOK = "/webhooks/{app}/{token}"


@route("POST /interactions/{interaction}/{token}/callback")
def first(state: State, asked: Asked) -> Json | None:
    """Take the first answer, within three seconds and once."""
    act = state.interaction(asked.path["token"])
    if act is None or act.id != asked.path["interaction"] or act.is_late:
        raise unknown(10062, "interaction")
    if act.answer is not None:
        raise DiscordSays(400, 40060, "Interaction has already been acknowledged.")
    kind, data = int(asked.body.get("type") or 0), one(asked.body.get("data"))
    _allowed(act, kind)
    made = _answered(state, act, kind, data, asked)
    act.answer, act.answered_after = copied(asked.body), act.time.now() - act.born
    if asked.query.get("with_response", "").lower() not in ("1", "true"):
        return None
    told: Json = {
        "id": act.id, "type": act.kind, "response_message_loading": kind == THINKING,
        "response_message_ephemeral": bool(made and made.only_for),
    }  # fmt: skip
    resource: Json = {"type": kind}
    if made:
        told["response_message_id"] = made.id
        resource["message"] = copied(made.now)
    return {"interaction": told, "resource": resource}


def _allowed(act: Interaction, kind: int) -> None:
    """Refuse an answer that is none to what was done."""
    from_message = act.kind == COMPONENT or (act.kind == SUBMIT and act.source is not None)
    known = {ANSWER, THINKING}
    known |= {SILENCE, UPDATE} if from_message else set()
    known |= {MODAL} if act.kind in (COMMAND, COMPONENT) else set()
    if kind not in known:
        raise wrong("type", f"Value of field must be one of {sorted(known)}.")


def _answered(
    state: State, act: Interaction, kind: int, data: Json, asked: Asked
) -> Message | None:
    match kind:
        case 4:
            act.original = _say(state, act, data, asked)
        case 5:
            flags = int(data.get("flags") or 0)
            if flags & ~limits.EPHEMERAL:
                raise wrong("data.flags", "Only EPHEMERAL can be set here")
            act.original = _say(state, act, {"flags": flags | limits.LOADING}, asked)
            act.is_loading = True
        case 9:
            components.check_modal(data)
            act.modal = Modal(
                now=copied(data), user=act.user, channel=act.channel,
                message=act.source.id if act.source else None,
            )  # fmt: skip
        case _:
            act.original = act.source
            if kind == UPDATE and act.source:
                return posting.edit(state.world, act.source, data, asked.files)
    return act.original if kind in (ANSWER, THINKING) else None


def _say(state: State, act: Interaction, data: Json, asked: Asked) -> Message:
    world, more = state.world, dict[str, object]()
    alone = act.user if int(data.get("flags") or 0) & limits.EPHEMERAL else None
    if act.kind == COMMAND:
        more["type"] = 20
    more["interaction_metadata"] = {
        "id": act.id, "type": act.kind, "user": world.users[act.user],
        "authorizing_integration_owners": {},
    }  # fmt: skip
    made = posting.make(
        world, act.channel, world.users[world.bot], data, asked.files, only_for=alone,
        by_interaction=True, webhook_id=world.app, application_id=world.app, **more,
    )  # fmt: skip
    act.shown.append(made)
    return made


@route(f"POST {HOOK}")
def follow(state: State, asked: Asked) -> Json:
    """Say more. The first of these takes the place of the thinking."""
    act = _act(state, asked)
    if act.is_loading and act.original:
        body = {key: value for key, value in asked.body.items() if key != "flags"}
        body["flags"] = int(asked.body.get("flags") or 0) & ~limits.EPHEMERAL
        return _edited(state, act, act.original, body, asked)
    return copied(_say(state, act, asked.body, asked).now)


@route(f"GET {HOOK}/messages/{{message}}")
def read(state: State, asked: Asked) -> Json:
    """Return what was said with this token."""
    return copied(_mine(_act(state, asked), asked).now)


@route(f"PATCH {HOOK}/messages/{{message}}")
def change(state: State, asked: Asked) -> Json:
    """Edit what was said with this token."""
    act = _act(state, asked)
    return _edited(state, act, _mine(act, asked), asked.body, asked)


@route(f"DELETE {HOOK}/messages/{{message}}")
def remove(state: State, asked: Asked) -> None:
    """Take away what was said with this token."""
    act = _act(state, asked)
    message = _mine(act, asked)
    posting.remove(state.world, message)
    act.is_loading = act.is_loading and message is not act.original


def _edited(state: State, act: Interaction, message: Message, body: Json, asked: Asked) -> Json:
    posting.edit(state.world, message, body, asked.files)
    act.is_loading = act.is_loading and message is not act.original
    return copied(message.now)


def _act(state: State, asked: Asked) -> Interaction:
    """Return whose token this is: answered before, and of the last fifteen minutes."""
    act = state.interaction(asked.path["token"])
    if act is None or act.answer is None or act.is_dead:
        raise unknown(10015, "Webhook")
    return act


def _mine(act: Interaction, asked: Asked) -> Message:
    own = asked.path["message"]
    if own == "@original":
        found = act.original
    else:
        there = [*act.shown, *([act.source] if act.source else [])]
        found = next((each for each in there if each.id == own), None)
    if found is None or found.gone:
        raise unknown(10008, "Message")
    return found
