"""What our own Discord takes and what it refuses, as the real one does."""

import discord as dpy
import pytest

from tests.standins.discord import GUILD, OPS, FakeDiscord, Json
from tests.standins.discordpy import Listening

POST = f"/channels/{OPS}/messages"
V2 = 1 << 15


def button(label: str = "Approve", custom_id: str = "a", **more: object) -> Json:
    return {"type": 2, "style": 1, "label": label, "custom_id": custom_id, **more}


def row(*inner: Json) -> Json:
    return {"type": 1, "components": list(inner)}


def text(content: str = "x") -> Json:
    return {"type": 10, "content": content}


def box(*inner: Json) -> Json:
    return {"type": 17, "components": list(inner)}


def made_of(*components: Json, **more: object) -> Json:
    return {"flags": V2, "components": list(components), **more}


def section(*inner: Json, accessory: Json | None) -> Json:
    return {"type": 9, "components": list(inner), "accessory": accessory}


def five() -> Json:
    return row(*(button(custom_id=str(number)) for number in range(5)))


TAKEN: dict[str, Json] = {
    "2,000 characters": {"content": "x" * 2000},
    "40 components": made_of(*[box(*[text()] * 9)] * 4),
    "4,000 characters in components": made_of(text("x" * 3000), text("x" * 1000)),
    "five buttons in a row": made_of(five()),
    "words with buttons": {"content": "x", "components": [row(button())]},
    "a label of 80": made_of(row(button(label="x" * 80))),
    "a custom id of 100": made_of(row(button(custom_id="x" * 100))),
    "a link": made_of(row({"type": 2, "style": 5, "label": "see", "url": "https://a.b"})),
    "a section with a button": made_of(section(text(), accessory=button())),
    "a nonce of 25": {"content": "x", "nonce": "x" * 25},
}
REFUSED: dict[str, Json] = {
    "nothing": {"content": ""},
    "spaces": {"content": "  "},
    "2,001 characters": {"content": "x" * 2001},
    "41 components": made_of(*[box(*[text()] * 9)] * 4, text()),
    "4,001 characters in components": made_of(text("x" * 3000), text("x" * 1001)),
    "an empty text": made_of(text("")),
    "words with components of version 2": made_of(text(), content="x"),
    "no components of version 2": made_of(),
    "texts without the flag": {"components": [text()]},
    "six rows": {"content": "x", "components": [row(button(custom_id=str(n))) for n in range(6)]},
    "six buttons in a row": made_of(row(*five()["components"], button())),
    "an empty row": made_of(row()),
    "an empty container": made_of(box()),
    "a container in a container": made_of(box(box(text()))),
    "a button on its own": made_of(button()),
    "a label of 81": made_of(row(button(label="x" * 81))),
    "no label": made_of(row(button(label=""))),
    "a custom id of 101": made_of(row(button(custom_id="x" * 101))),
    "no custom id": made_of(row(button(custom_id=""))),
    "the same custom id twice": made_of(row(button(), button(label="Deny"))),
    "a style that there is not": made_of(row(button(style=9))),
    "a link with a custom id": made_of(row(button(style=5, url="https://a.b"))),
    "a button with a link": made_of(row(button(url="https://a.b"))),
    "a section of nothing": made_of(section(accessory=button())),
    "a section without anything beside it": made_of(section(text(), accessory=None)),
    "four texts in a section": made_of(section(*[text()] * 4, accessory=button())),
    "a file that is not there": made_of({"type": 13, "file": {"url": "attachment://a.txt"}}),
    "a color that there is not": made_of({**box(text()), "accent_color": 1 << 24}),
    "a nonce of 26": {"content": "x", "nonce": "x" * 26},
    "mentions said twice": {
        "content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]},
    },
    "a reply to nothing": {"content": "x", "message_reference": {"message_id": "1"}},
}  # fmt: skip
FIELD: Json = {"type": 4, "custom_id": "reason", "style": 2, "label": "Why"}
FORMS: dict[str, Json] = {
    "a title of 46": {"title": "x" * 46, "custom_id": "a", "components": [row(FIELD)]},
    "no title": {"title": "", "custom_id": "a", "components": [row(FIELD)]},
    "a custom id of 101": {"title": "x", "custom_id": "a" * 101, "components": [row(FIELD)]},
    "six fields": {"title": "x", "custom_id": "a", "components": [row(FIELD)] * 6},
    "the same field twice": {"title": "x", "custom_id": "a", "components": [row(FIELD)] * 2},
    "no field": {"title": "x", "custom_id": "a", "components": []},
    "a button": {"title": "x", "custom_id": "a", "components": [row(button())]},
    "a label of 46": {
        "title": "x", "custom_id": "a", "components": [row({**FIELD, "label": "x" * 46})],
    },
    "a value of 4,001": {
        "title": "x", "custom_id": "a", "components": [row({**FIELD, "value": "x" * 4001})],
    },
}  # fmt: skip
OPTION: Json = {"name": "text", "description": "What", "type": 3}
COMMANDS: dict[str, Json] = {
    "capitals": {"name": "Ask", "description": "x"},
    "a space": {"name": "a b", "description": "x"},
    "33 characters": {"name": "a" * 33, "description": "x"},
    "no description": {"name": "ask", "description": ""},
    "a description of 101": {"name": "ask", "description": "x" * 101},
    "an option in capitals": {
        "name": "ask", "description": "x", "options": [{**OPTION, "name": "Text"}],
    },
    "what is required last": {
        "name": "ask", "description": "x",
        "options": [OPTION, {**OPTION, "name": "more", "required": True}],
    },
}  # fmt: skip


@pytest.mark.parametrize("what", TAKEN)
async def test_it_takes_what_is_just_allowed(
    discord: FakeDiscord, rest: Listening, what: str
) -> None:
    await rest.call("POST", POST, TAKEN[what])
    assert len(discord.messages(OPS)) == 1


@pytest.mark.parametrize("what", REFUSED)
async def test_it_refuses_what_is_not(discord: FakeDiscord, rest: Listening, what: str) -> None:
    with pytest.raises(dpy.HTTPException) as refused:
        await rest.call("POST", POST, REFUSED[what])
    assert (refused.value.status, refused.value.code in (50035, 50006)) == (400, True)
    assert discord.messages(OPS) == []


@pytest.mark.parametrize("what", ["2,001 characters", "the same custom id twice", "nothing"])
async def test_an_edit_is_refused_like_a_post(
    discord: FakeDiscord, rest: Listening, what: str
) -> None:
    own = await rest.call("POST", POST, {"content": "before"})
    with pytest.raises(dpy.HTTPException):
        await rest.call("PATCH", f"{POST}/{own['id']}", REFUSED[what])
    assert discord.edits(own["id"]) == ["before"]


async def test_components_of_version_2_stay_what_they_are(
    discord: FakeDiscord, rest: Listening
) -> None:
    own = await rest.call("POST", POST, made_of(text("before")))
    path = f"{POST}/{own['id']}"
    with pytest.raises(dpy.HTTPException):
        await rest.call("PATCH", path, {"content": "words"})
    now = await rest.call("PATCH", path, {"components": [text("after")], "flags": 0})
    assert now["flags"] & V2
    assert discord.edits(own["id"]) == ["before", "after"]


@pytest.mark.parametrize("what", FORMS)
async def test_it_shows_no_form_that_is_not_allowed(
    discord: FakeDiscord, listening: Listening, what: str
) -> None:
    discord.declares([{"name": "ask", "description": "x"}])
    act = await discord.people.slash("500000000000000001", OPS, "ask")
    callback = f"/interactions/{act.id}/{act.token}/callback"
    with pytest.raises(dpy.HTTPException) as refused:
        await listening.call("POST", callback, {"type": 9, "data": FORMS[what]})
    assert refused.value.code == 50035
    assert (act.answered, act.modal) == (False, None)


@pytest.mark.parametrize("what", COMMANDS)
async def test_it_keeps_no_command_that_is_not_allowed(
    discord: FakeDiscord, rest: Listening, what: str
) -> None:
    path = f"/applications/{discord.world.app}/guilds/{GUILD}/commands"
    with pytest.raises(dpy.HTTPException) as refused:
        await rest.call("PUT", path, [COMMANDS[what]])
    assert refused.value.code == 50035
    assert await rest.listed(path) == []


async def test_commands_replace_those_before(discord: FakeDiscord, rest: Listening) -> None:
    path = f"/applications/{discord.world.app}/commands"
    await rest.call("PUT", path, [{"name": "old", "description": "x"}])
    await rest.call("PUT", path, [{"name": "ask", "description": "x", "options": [OPTION]}])
    await rest.call("POST", path, {"name": "stop", "description": "x"})
    there = await rest.listed(path)
    assert [each["name"] for each in there] == ["ask", "stop"]


async def test_a_title_of_a_thread_has_an_end(discord: FakeDiscord, rest: Listening) -> None:
    for name in ("", "x" * 101):
        with pytest.raises(dpy.HTTPException):
            await rest.call("POST", f"/channels/{OPS}/threads", {"name": name, "type": 11})
    assert discord.threads(OPS) == []
