"""Commands, buttons and forms on our own Discord, as the real discord.py answers them."""

import discord as dpy
import pytest

from tests.standins.discord import ALICE, BOB, GUILD, OPS, FakeDiscord, Interaction, Json
from tests.standins.discordpy import Listening, connected

TEXT: Json = {"name": "text", "description": "What", "type": 3, "required": True}
ASK: Json = {"name": "ask", "description": "Ask.", "options": [TEXT]}
APPROVE: Json = {"type": 2, "style": 3, "label": "Approve", "custom_id": "sayso:approve:r1"}
GREY: Json = {
    "type": 2,
    "style": 4,
    "label": "Deny",
    "custom_id": "sayso:deny:r1",
    "disabled": True,
}
ROW: Json = {"type": 1, "components": [APPROVE, GREY]}


class Reason(dpy.ui.Modal, title="Deny"):
    """A form with one field."""

    reason: dpy.ui.TextInput["Reason"] = dpy.ui.TextInput(
        label="Why", custom_id="reason", min_length=3
    )


@pytest.fixture
def asked(discord: FakeDiscord) -> FakeDiscord:
    discord.declares([ASK], GUILD)
    return discord


async def heard(discord: FakeDiscord, client: Listening, number: int = 1) -> dpy.Interaction:
    await discord.until(lambda: len(client.acts) >= number)
    return client.acts[number - 1]


async def posted(client: Listening) -> Json:
    return await client.call(
        "POST", f"/channels/{OPS}/messages", {"content": "A", "components": [ROW]}
    )


async def pressed(discord: FakeDiscord, client: Listening) -> tuple[Interaction, dpy.Interaction]:
    act = await discord.people.presses(BOB, await posted(client), "Approve")
    return act, await heard(discord, client)


async def test_a_command_is_answered_for_one_person_alone(
    asked: FakeDiscord, listening: Listening
) -> None:
    act = await asked.people.slash(ALICE, OPS, "ask", text="restart web")
    theirs = await heard(asked, listening)
    assert theirs.data is not None
    assert theirs.data["options"] == [{"name": "text", "type": 3, "value": "restart web"}]  # type: ignore[typeddict-item]
    await theirs.response.send_message("On it.", ephemeral=True)
    assert (act.said, act.alone, act.failed) == (["On it."], ["On it."], False)
    assert asked.seen_in(OPS) == []
    own = await theirs.original_response()
    with pytest.raises(dpy.NotFound) as refused:
        await listening.call("GET", f"/channels/{OPS}/messages/{own.id}")
    assert refused.value.code == 10008


async def test_nobody_can_type_what_is_not_declared(asked: FakeDiscord) -> None:
    with pytest.raises(AssertionError, match="there is no command /stop"):
        await asked.people.slash(ALICE, OPS, "stop")
    with pytest.raises(AssertionError, match="needs"):
        await asked.people.slash(ALICE, OPS, "ask")
    with pytest.raises(AssertionError, match="takes"):
        await asked.people.slash(ALICE, OPS, "ask", words="x")
    with pytest.raises(AssertionError, match="there is no command /ask"):
        await asked.people.slash(ALICE, asked.world.dm(ALICE), "ask", text="x")


async def test_after_three_seconds_the_interaction_has_failed(
    asked: FakeDiscord, listening: Listening
) -> None:
    act = await asked.people.slash(ALICE, OPS, "ask", text="x")
    theirs = await heard(asked, listening)
    asked.passes(3.1)
    assert (act.failed, act.said) == (True, ["This interaction failed"])
    with pytest.raises(dpy.NotFound) as refused:
        await theirs.response.send_message("too late")
    assert refused.value.code == 10062


async def test_a_second_first_answer_is_refused(asked: FakeDiscord, listening: Listening) -> None:
    async with connected(asked) as other:
        act = await asked.people.slash(ALICE, OPS, "ask", text="x")
        first, second = await heard(asked, listening), await heard(asked, other)
        assert act.sessions == 2
        await first.response.send_message("one")
        with pytest.raises(dpy.HTTPException) as refused:
            await second.response.send_message("two")
        assert refused.value.code == 40060
        assert act.said == ["one"]


async def test_thinking_becomes_the_answer(asked: FakeDiscord, listening: Listening) -> None:
    act = await asked.people.slash(ALICE, OPS, "ask", text="x")
    theirs = await heard(asked, listening)
    await theirs.response.defer(ephemeral=True, thinking=True)
    assert (act.answered, act.is_over, act.said) == (True, False, [])
    await theirs.edit_original_response(content="done")
    assert (act.is_over, act.alone) == (True, ["done"])
    await theirs.followup.send("and more", ephemeral=True)
    assert act.alone == ["done", "and more"]


async def test_the_first_thing_said_after_thinking_takes_its_place(
    asked: FakeDiscord, listening: Listening
) -> None:
    act = await asked.people.slash(ALICE, OPS, "ask", text="x")
    theirs = await heard(asked, listening)
    await theirs.response.defer(ephemeral=True, thinking=True)
    await theirs.followup.send("done")
    assert act.alone == ["done"]


async def test_the_token_is_worth_nothing_after_a_quarter_of_an_hour(
    asked: FakeDiscord, listening: Listening
) -> None:
    await asked.people.slash(ALICE, OPS, "ask", text="x")
    theirs = await heard(asked, listening)
    await theirs.response.send_message("one", ephemeral=True)
    asked.passes(15 * 60)
    with pytest.raises(dpy.NotFound) as refused:
        await theirs.edit_original_response(content="two")
    assert refused.value.code == 10015


async def test_the_token_is_worth_nothing_before_the_first_answer(
    asked: FakeDiscord, listening: Listening
) -> None:
    await asked.people.slash(ALICE, OPS, "ask", text="x")
    theirs = await heard(asked, listening)
    with pytest.raises(dpy.NotFound) as refused:
        await theirs.edit_original_response(content="two")
    assert refused.value.code == 10015


async def test_a_button_says_who_pressed_it_and_changes_its_message(
    discord: FakeDiscord, listening: Listening
) -> None:
    discord.world.role("800000000000000001", "approvers")
    await discord.people.changes_roles(BOB, "800000000000000001")
    act, theirs = await pressed(discord, listening)
    assert str(theirs.user.id) == BOB
    assert isinstance(theirs.user, dpy.Member)
    assert act.sent["member"]["roles"] == ["800000000000000001"]
    assert theirs.user.get_role(800000000000000001) is None, "the client heard of no such role"
    await theirs.response.edit_message(content="B", view=None)
    assert act.said == []
    assert discord.seen_in(OPS) == ["B"]
    [now] = discord.messages(OPS)
    assert discord.buttons(now) == []


async def test_only_buttons_that_are_there_can_be_pressed(
    discord: FakeDiscord, listening: Listening
) -> None:
    card = await posted(listening)
    with pytest.raises(AssertionError, match="greyed out"):
        await discord.people.presses(BOB, card, "deny")
    with pytest.raises(AssertionError, match="no one button"):
        await discord.people.presses(BOB, card, "Run")
    await listening.call("PATCH", f"/channels/{OPS}/messages/{card['id']}", {"components": []})
    with pytest.raises(AssertionError, match="no one button"):
        await discord.people.presses(BOB, card, "Approve")
    act = await discord.people.presses(BOB, card, "Approve", stale=True)
    assert act.sent["data"]["custom_id"] == "sayso:approve:r1"


async def test_nothing_needs_to_be_seen_of_a_press(
    discord: FakeDiscord, listening: Listening
) -> None:
    act, theirs = await pressed(discord, listening)
    await theirs.response.defer()
    assert (act.is_over, act.said) == (True, [])
    await theirs.followup.send("told", ephemeral=True)
    assert act.alone == ["told"]


async def test_a_form_comes_back_with_what_was_written(
    discord: FakeDiscord, listening: Listening
) -> None:
    act, theirs = await pressed(discord, listening)
    await theirs.response.send_modal(Reason(custom_id="sayso:deny:r1"))
    assert act.modal is not None
    assert act.modal.title == "Deny"
    with pytest.raises(AssertionError, match="takes 3 to"):
        await discord.people.submits(BOB, act.modal, reason="no")
    with pytest.raises(AssertionError, match="somebody else's"):
        await discord.people.submits(ALICE, act.modal, reason="not mine")
    sent = await discord.people.submits(BOB, act.modal, reason="not today")
    back = await heard(discord, listening, 2)
    assert back.data is not None
    assert back.data.get("custom_id") == "sayso:deny:r1"
    with pytest.raises(dpy.HTTPException):
        await back.response.send_modal(Reason(custom_id="again"))
    await back.response.send_message("Denied.", ephemeral=True)
    assert sent.alone == ["Denied."]


async def test_a_defer_cannot_become_a_form(discord: FakeDiscord, listening: Listening) -> None:
    _, theirs = await pressed(discord, listening)
    await theirs.response.defer()
    body: Json = {"type": 9, "data": {"title": "x", "custom_id": "y", "components": []}}
    with pytest.raises(dpy.HTTPException) as refused:
        await listening.call("POST", f"/interactions/{theirs.id}/{theirs.token}/callback", body)
    assert refused.value.code == 40060


async def test_what_is_done_while_nobody_is_connected_is_lost(asked: FakeDiscord) -> None:
    act = await asked.people.slash(ALICE, OPS, "ask", text="x")
    assert (act.sessions, asked.gateway.lost[-1][0]) == (0, "INTERACTION_CREATE")
    asked.passes(4)
    assert (await asked.over(act)).failed


async def test_in_direct_messages_there_are_no_roles(
    discord: FakeDiscord, listening: Listening
) -> None:
    discord.declares([ASK])
    await discord.people.slash(ALICE, discord.world.dm(ALICE), "ask", text="x")
    theirs = await heard(discord, listening)
    assert theirs.guild_id is None
    assert isinstance(theirs.user, dpy.User)


async def test_an_answer_for_all_is_seen_by_all_and_pings_people_alone(
    asked: FakeDiscord, listening: Listening
) -> None:
    await asked.people.slash(ALICE, OPS, "ask", text="x")
    theirs = await heard(asked, listening)
    await theirs.response.send_message(f"@everyone <@{BOB}>")
    [told] = asked.pinged
    assert (told.everyone, set(told.users)) == (False, {BOB})
    assert asked.seen_in(OPS) == [f"@everyone <@{BOB}>"]
