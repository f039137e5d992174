"""What people do in Slack, through the real Bolt and SDK: taken once, acknowledged once it is stored."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from adapters.slack.intake import Patience
from core.errors import OutcomeUnknown, Refused, Unavailable
from core.events import Approve, Ask, Deny, Invited, Review, Stop, StopHere
from core.platforms import Home, Told
from tests.slack import ALICE, BOB, OPS, Scene, asking, connected, slack_of_two
from tests.standins.slack import FakeSlack
from tests.standins.slack.faults import Fault
from tests.standins.slack.plain import text_of

HURRIED = Patience(event=0.1, person=0.1)
DOWN = Unavailable("The database is away. Try again later.")


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with slack_of_two() as slack:
        yield slack


@pytest.fixture
async def scene(slack: FakeSlack) -> AsyncIterator[Scene]:
    async with connected(slack) as scene:
        yield scene


@pytest.fixture
async def hurried(slack: FakeSlack) -> AsyncIterator[Scene]:
    """Somebody whom the desk lets wait too long."""
    async with connected(slack, patience=HURRIED) as scene:
        scene.desk.gate = asyncio.Event()
        yield scene
        scene.desk.gate.set()


async def posted_card(scene: Scene) -> str:
    place = await scene.root()
    return await scene.platform.chat.post(place, asking(), key="post:c1:1")


async def test_a_mention_is_taken_and_acknowledged(scene: Scene) -> None:
    mention, _ = await scene.slack.people.mention(ALICE, OPS, "restart web")

    assert mention.acked
    [first, *_] = scene.desk.events
    assert isinstance(first, Ask)
    assert (first.text, first.place.thread) == ("restart web", mention.ts)
    await scene.slack.until(lambda: scene.slack.work.sessions.get((OPS, mention.ts)))
    assert scene.slack.work.sessions[OPS, mention.ts][0]["status"] == "processing"


@pytest.mark.parametrize("first", ["app_mention", "message"])
@pytest.mark.parametrize("text", ["help", "stop", f"approve {'a' * 32}"])
async def test_p02_a_command_in_a_mention_is_done_and_answered_once(
    scene: Scene, text: str, first: str
) -> None:
    scene.desk.says = [Told(text="Done."), Told(text="Done before.")]

    both = await scene.slack.people.mention(ALICE, OPS, text, first=first)
    await scene.slack.until(lambda: scene.slack.ephemerals(ALICE))

    assert [one.acked for one in both] == [True, True]
    assert (len(scene.desk.events), scene.slack.ephemerals(ALICE)) == (1, ["Done."])


async def test_p02_a_mention_that_means_nothing_is_answered_once(scene: Scene) -> None:
    def told(channel: str) -> int:
        return sum(one["channel"] == channel for one in scene.slack.work.ephemeral)

    await scene.slack.people.mention(ALICE, OPS, "approve it")
    await scene.slack.people.say(ALICE, ALICE, "approve it")
    await scene.slack.until(lambda: told(OPS) and told(scene.slack.work.dm(ALICE)))

    assert (told(OPS), told(scene.slack.work.dm(ALICE))) == (1, 1)


async def test_what_is_not_for_sayso_is_acknowledged_and_goes_nowhere(scene: Scene) -> None:
    said = await scene.slack.people.say(ALICE, OPS, "good morning")
    botted = await scene.slack.people.other_bot(OPS, "deploy", mentions=True)

    assert said.acked
    assert botted.acked
    assert scene.desk.events == []


async def test_an_event_that_could_not_be_stored_is_not_acknowledged(scene: Scene) -> None:
    scene.slack.sockets.ack_within = 0.2
    scene.desk.says = [DOWN]

    missed = await scene.slack.people.say(ALICE, ALICE, "restart web")
    again = await scene.slack.redeliver(missed)

    assert not missed.acked
    assert again.acked
    assert len(scene.desk.events) == 2
    assert scene.slack.ephemerals(ALICE) == []


async def test_a_crash_is_no_acknowledgement_either(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.slack.sockets.ack_within = 0.2
    scene.desk.says = [ValueError("s3cret")]

    missed = await scene.slack.people.say(ALICE, ALICE, "restart web")

    assert not missed.acked
    assert "unexpected ValueError" in caplog.text
    assert "s3cret" not in caplog.text
    assert "restart web" not in caplog.text


async def test_after_the_last_retry_somebody_is_told(scene: Scene) -> None:
    scene.slack.sockets.ack_within = 0.2
    scene.desk.says = [DOWN, DOWN]

    missed = await scene.slack.people.say(ALICE, ALICE, "restart web")
    last = await scene.slack.redeliver(missed, attempt=3)

    assert last.acked
    await scene.slack.until(lambda: scene.slack.ephemerals(ALICE))
    assert "The database is away" in scene.slack.ephemerals(ALICE)[0]


async def test_an_event_that_takes_too_long_is_taken_once_however_often_it_comes(
    hurried: Scene,
) -> None:
    hurried.slack.sockets.ack_within = 0.3

    slow = await hurried.slack.people.say(ALICE, ALICE, "restart web")
    again = await hurried.slack.redeliver(slow)
    assert hurried.desk.gate is not None
    hurried.desk.gate.set()
    third = await hurried.slack.redeliver(slow, attempt=2)

    assert [slow.acked, again.acked, third.acked] == [False, False, True]
    assert len(hurried.desk.events) == 1


async def test_a_redelivered_event_is_taken_once(scene: Scene) -> None:
    first = await scene.slack.people.say(ALICE, ALICE, "restart web")
    again = await scene.slack.redeliver(first, attempt=2, socket=1)

    assert first.acked
    assert again.acked
    assert len(scene.desk.events) == 1


async def test_a_mention_that_slack_tells_of_twice_is_refused_once(scene: Scene) -> None:
    scene.desk.says = [Refused("You may not ask here."), Refused("Twice.")]

    both = await scene.slack.people.mention(ALICE, OPS, "restart web")
    await scene.platform.tasks.drain(1.0)

    assert [each.acked for each in both] == [True, True]
    assert len(scene.desk.events) == 1
    assert len(scene.slack.ephemerals(ALICE)) == 1


async def test_a_refused_event_is_acknowledged_and_told_in_its_thread(scene: Scene) -> None:
    root = await scene.slack.people.say(ALICE, ALICE, "restart web")
    scene.desk.says = [Refused("You may not ask here.")]

    said = await scene.slack.people.say(ALICE, ALICE, "and db", thread=root.ts)

    assert said.acked
    await scene.slack.until(lambda: scene.slack.work.ephemeral)
    [told] = scene.slack.work.ephemeral
    assert (told["user"], told["thread_ts"]) == (ALICE, root.ts)


async def test_a_command_is_answered_by_its_acknowledgement(scene: Scene) -> None:
    scene.desk.says = [Told(text="Nothing runs here.")]

    stopped = await scene.slack.people.slash(ALICE, OPS, "/stop")

    assert isinstance(scene.desk.events[0], Stop)
    assert stopped.answer is not None
    assert stopped.answer["response_type"] == "ephemeral"
    assert "Nothing runs here." in str(stopped.answer["blocks"])
    assert scene.slack.work.ephemeral == []


async def test_a_command_with_nothing_to_say_is_acknowledged_in_silence(scene: Scene) -> None:
    asked = await scene.slack.people.slash(ALICE, OPS, "/ask", "restart web")

    assert asked.acked
    assert asked.answer is None


async def test_a_command_that_means_nothing_is_answered_with_what_would(scene: Scene) -> None:
    asked = await scene.slack.people.slash(ALICE, OPS, "/ask", "")

    assert asked.answer is not None
    assert "/ask health" in asked.answer["text"]
    assert scene.desk.events == []


async def test_a_message_that_means_nothing_is_answered_with_what_would(scene: Scene) -> None:
    said = await scene.slack.people.say(ALICE, ALICE, "!approve")

    assert said.acked
    await scene.slack.until(lambda: scene.slack.ephemerals(ALICE))
    assert scene.desk.events == []


async def test_a_slow_form_is_acknowledged_and_told_later(hurried: Scene) -> None:
    ts = await posted_card(hurried)
    await hurried.slack.hands.click(BOB, OPS, ts, "Deny")
    await hurried.slack.until(lambda: hurried.slack.views(BOB))
    hurried.desk.says = [Refused("Somebody already decided this.")]

    sent = await hurried.slack.hands.submit_view(BOB, hurried.slack.views(BOB)[0]["id"], {})
    assert hurried.desk.gate is not None
    hurried.desk.gate.set()

    assert sent.acked
    assert sent.answer is None
    await hurried.slack.until(lambda: hurried.slack.ephemerals(BOB))


async def test_a_slow_command_is_acknowledged_and_answered_later(hurried: Scene) -> None:
    hurried.desk.says = [Told(text="Stopped one run.")]

    stopped = await hurried.slack.people.slash(ALICE, OPS, "/stop")
    assert hurried.desk.gate is not None
    hurried.desk.gate.set()

    assert stopped.acked
    assert stopped.answer is None
    await hurried.slack.until(lambda: hurried.slack.ephemerals(ALICE))
    assert hurried.slack.ephemerals(ALICE) == ["Stopped one run."]
    assert hurried.slack.calls("chat.postEphemeral") == []  # by its response_url


async def test_where_the_response_url_is_not_slacks_nothing_is_sent_there(hurried: Scene) -> None:
    hurried.desk.says = [Told(text="Stopped one run.")]
    hurried.slack.people.reply_at = "http://evil.example/response"

    await hurried.slack.people.slash(ALICE, OPS, "/stop")
    assert hurried.desk.gate is not None
    hurried.desk.gate.set()

    await hurried.slack.until(lambda: hurried.slack.calls("chat.postEphemeral"))
    assert hurried.slack.ephemerals(ALICE) == ["Stopped one run."]


async def test_an_unavailable_command_says_so_at_once(scene: Scene) -> None:
    scene.desk.says = [DOWN]

    asked = await scene.slack.people.slash(ALICE, OPS, "/ask", "restart web")

    assert asked.answer is not None
    assert "Not now." in asked.answer["text"]


async def test_asking_where_sayso_is_no_member_explains_itself(scene: Scene) -> None:
    scene.slack.work.channel("C0ELSE", ALICE, joined=False)
    scene.slack.work.channel("C0HIDE", ALICE, joined=False, is_private=True)

    for channel in ("C0ELSE", "C0HIDE"):
        asked = await scene.slack.people.slash(ALICE, channel, "/ask", "restart web")

        assert asked.answer is not None
        assert "/invite" in asked.answer["text"]
    assert scene.desk.events == []


async def test_once_invited_it_can_be_asked_and_slack_is_asked_once(scene: Scene) -> None:
    scene.slack.work.channel("C0ELSE", ALICE, joined=False)
    await scene.slack.people.slash(ALICE, "C0ELSE", "/ask", "restart web")
    await scene.slack.hands.invite(ALICE, "C0ELSE")

    for _ in range(2):
        asked = await scene.slack.people.slash(ALICE, "C0ELSE", "/ask", "restart web")
        assert asked.answer is None

    assert len(scene.slack.calls("conversations.info")) == 2


async def test_where_slack_does_not_say_who_is_a_member_it_is_taken(scene: Scene) -> None:
    scene.slack.faults.fails("conversations.info")

    asked = await scene.slack.people.slash(ALICE, OPS, "/ask", "restart web")

    assert asked.answer is None
    assert len(scene.desk.events) == 1


async def test_a_click_is_acknowledged_and_a_refusal_told_beside_the_card(scene: Scene) -> None:
    ts = await posted_card(scene)
    scene.desk.says = [Refused("Somebody else has to approve this.")]

    clicked = await scene.slack.hands.click(BOB, OPS, ts, "Approve")

    assert clicked.acked
    [event] = scene.desk.events
    assert isinstance(event, Approve)
    assert (event.request, event.identity.user) == ("r-1", BOB)
    await scene.slack.until(lambda: scene.slack.work.ephemeral)
    [told] = scene.slack.work.ephemeral
    card = scene.slack.messages(OPS)[-1]
    assert (told["user"], told["thread_ts"]) == (BOB, card["thread_ts"])
    assert "Approve" in scene.slack.buttons(card)


async def test_one_click_that_comes_twice_is_taken_once_and_answered_twice(scene: Scene) -> None:
    ts = await posted_card(scene)
    scene.desk.says = [Refused("Somebody already decided this.")]

    clicked = await scene.slack.hands.click(BOB, OPS, ts, "Approve")
    again = await scene.slack.deliver("interactive", clicked.payload)

    assert again.acked
    assert len(scene.desk.events) == 1
    await scene.slack.until(lambda: len(scene.slack.ephemerals(BOB)) == 2)
    assert len(set(scene.slack.ephemerals(BOB))) == 1


async def test_a_slow_click_is_acknowledged_and_told_later(hurried: Scene) -> None:
    ts = await posted_card(hurried)
    hurried.desk.says = [OutcomeUnknown("Look at the run.")]

    clicked = await hurried.slack.hands.click(BOB, OPS, ts, "Approve")
    assert clicked.acked
    assert hurried.slack.ephemerals(BOB) == []
    assert hurried.desk.gate is not None
    hurried.desk.gate.set()

    await hurried.slack.until(lambda: hurried.slack.ephemerals(BOB))


async def test_an_unavailable_click_can_be_pressed_again(scene: Scene) -> None:
    ts = await posted_card(scene)
    scene.desk.says = [DOWN]

    first = await scene.slack.hands.click(BOB, OPS, ts, "Approve")
    again = await scene.slack.deliver("interactive", first.payload)

    assert first.acked
    assert again.acked
    assert len(scene.desk.events) == 2
    await scene.slack.until(lambda: scene.slack.ephemerals(BOB))


async def test_where_no_ephemeral_can_be_posted_the_response_url_is_used(scene: Scene) -> None:
    ts = await posted_card(scene)
    scene.desk.says = [Refused("Not you.")]
    scene.slack.faults.says("chat.postEphemeral", "user_not_in_channel")

    await scene.slack.hands.click(BOB, OPS, ts, "Approve")

    await scene.slack.until(lambda: scene.slack.ephemerals(BOB))


async def test_deny_asks_why_and_says_what_went_wrong_in_its_window(scene: Scene) -> None:
    ts = await posted_card(scene)

    await scene.slack.hands.click(BOB, OPS, ts, "Deny")
    [view] = scene.slack.views(BOB)
    assert scene.desk.events == []
    scene.desk.says = [Refused("Somebody already decided this."), Told()]
    refused = await scene.slack.hands.submit_view(BOB, view["id"], {"reason": "not on a Friday"})

    assert refused.answer is not None
    assert refused.answer["response_action"] == "update"
    assert "already decided" in str(scene.slack.views(BOB)[0]["blocks"])
    [event] = scene.desk.events
    assert isinstance(event, Deny)
    assert (event.request, event.reason) == ("r-1", "not on a Friday")


async def test_a_form_that_is_taken_closes_and_tells_where_the_card_is(scene: Scene) -> None:
    ts = await posted_card(scene)
    await scene.slack.hands.click(BOB, OPS, ts, "Deny")
    scene.desk.says = [Told(text="Denied.")]

    sent = await scene.slack.hands.submit_view(BOB, scene.slack.views(BOB)[0]["id"], {})

    assert sent.acked
    assert scene.slack.views(BOB) == []
    await scene.slack.until(lambda: scene.slack.ephemerals(BOB))
    assert scene.slack.work.ephemeral[0]["thread_ts"]


async def test_review_shows_all_of_the_card(scene: Scene) -> None:
    ts = await posted_card(scene)
    scene.desk.says = [Told(card=asking())]

    await scene.slack.hands.click(BOB, OPS, ts, "Review full plan")

    [event] = scene.desk.events
    assert isinstance(event, Review)
    assert "restart web" in str(scene.slack.views(BOB)[0]["blocks"])


async def test_review_of_what_is_gone_says_so(scene: Scene) -> None:
    ts = await posted_card(scene)
    scene.desk.says = [Told(text="That request has ended.")]

    await scene.slack.hands.click(BOB, OPS, ts, "Review full plan")

    await scene.slack.until(lambda: scene.slack.ephemerals(BOB))
    assert scene.slack.views(BOB) == []


async def test_a_window_that_is_late_asks_to_press_again(scene: Scene) -> None:
    ts = await posted_card(scene)
    scene.desk.gate = asyncio.Event()
    scene.desk.says = [Told(card=asking())]

    clicking = asyncio.create_task(scene.slack.hands.click(BOB, OPS, ts, "Review full plan"))
    await scene.desk.until_taken()
    scene.slack.work.time.pass_by(4)
    scene.desk.gate.set()
    clicked = await clicking

    assert clicked.acked
    await scene.slack.until(lambda: scene.slack.ephemerals(BOB))
    assert "Press it again" in scene.slack.ephemerals(BOB)[0]


async def test_who_brings_sayso_in_is_greeted_before_everybody(scene: Scene) -> None:
    scene.slack.work.channel("C0NEW", ALICE, joined=False)
    scene.desk.says = [Told(text="Hello, I am Sayso.")]

    invited = await scene.slack.hands.invite(ALICE, "C0NEW")

    assert invited.acked
    assert isinstance(scene.desk.events[0], Invited)
    await scene.slack.until(lambda: scene.slack.messages("C0NEW"))
    assert (
        "Hello, I am Sayso."
        in scene.slack.thread("C0NEW", scene.slack.messages("C0NEW")[0]["ts"])[0]
    )


async def test_the_home_tab_and_prompts_are_drawn_when_somebody_looks(scene: Scene) -> None:
    home = await scene.slack.hands.open_home(ALICE)
    messages = await scene.slack.hands.open_home(ALICE, tab="messages")

    assert home.acked
    assert messages.acked
    await scene.slack.until(lambda: scene.slack.work.homes and scene.slack.work.prompts)
    assert scene.desk.homes[0].user == ALICE


@pytest.mark.parametrize("error", [Refused("Sayso does not know you here."), DOWN])
async def test_c64_whoever_may_not_see_what_waits_is_told_why_in_the_home_tab(
    scene: Scene, error: Exception
) -> None:
    scene.desk.home_is = error

    await scene.slack.hands.open_home(ALICE)
    await scene.slack.until(lambda: scene.slack.work.homes)

    assert text_of(scene.slack.work.homes[ALICE]) == str(error)


async def test_a_home_tab_that_cannot_be_drawn_harms_nothing(scene: Scene) -> None:
    scene.slack.faults.fails("views.publish")

    home = await scene.slack.hands.open_home(ALICE)
    await scene.slack.until(lambda: scene.slack.calls("views.publish"))
    said = await scene.slack.people.say(ALICE, ALICE, "restart web")

    assert home.acked
    assert said.acked


async def test_slacks_own_stop_is_a_stop_and_the_thread_shows_it(scene: Scene) -> None:
    place = await scene.root()

    stopped = await scene.slack.hands.native_stop(ALICE, OPS, str(place.thread))

    assert stopped.acked
    assert isinstance(scene.desk.events[0], StopHere)
    await scene.slack.until(lambda: scene.slack.work.sessions)
    assert scene.slack.work.sessions[OPS, str(place.thread)][-1]["status"] == "active"


async def test_what_is_pressed_in_the_home_tab_is_answered_directly(scene: Scene) -> None:
    scene.desk.home_is = Home(greeting="Hello.", waits=(asking(),), runs=())
    await scene.slack.hands.open_home(ALICE)
    await scene.slack.until(lambda: scene.slack.work.homes)
    scene.desk.says = [Told(text="That request has ended.")]

    await scene.slack.hands.click_home(ALICE, "sayso:review:1")

    await scene.slack.until(lambda: scene.slack.messages(ALICE))
    assert "has ended" in str(scene.slack.messages(ALICE)[0]["blocks"])


async def test_what_comes_while_leaving_is_left_to_others(slack: FakeSlack) -> None:
    slack.sockets.ack_within = 0.2
    async with AsyncExitStack() as stack:
        scene = await stack.enter_async_context(connected(slack))
        scene.desk.gate = asyncio.Event()
        clicking = asyncio.create_task(slack.people.slash(ALICE, OPS, "/stop"))
        await scene.desk.until_taken()
        leaving = asyncio.create_task(stack.aclose())
        late = await slack.people.say(ALICE, ALICE, "restart web")
        scene.desk.gate.set()
        await leaving
    await clicking

    assert not late.acked
    assert len(scene.desk.events) == 1


async def test_what_was_taken_in_comes_to_its_end_on_leaving(slack: FakeSlack) -> None:
    async with connected(slack) as scene:
        scene.desk.gate = asyncio.Event()
        slack.sockets.ack_within = 1.0
        asking_now = asyncio.create_task(slack.people.say(ALICE, ALICE, "restart web"))
        await scene.desk.until_taken()
        asyncio.get_running_loop().call_later(0.05, scene.desk.gate.set)
    said = await asking_now

    assert said.acked
    assert scene.desk.cut == 0
    await slack.sockets.until_open(0)


async def test_what_does_not_end_is_cut_on_leaving(slack: FakeSlack) -> None:
    async with connected(slack, drains_within=0.05) as scene:
        scene.desk.gate = asyncio.Event()
        slack.sockets.ack_within = 0.2
        asking_now = asyncio.create_task(slack.people.say(ALICE, ALICE, "restart web"))
        await scene.desk.until_taken()

    assert scene.desk.cut == 1
    assert not (await asking_now).acked


@pytest.mark.parametrize("odd", [{}, {"channel": "x"}, {"channel": {"id": OPS}}])
async def test_where_slack_does_not_say_whether_sayso_is_a_member_posting_will_tell(
    scene: Scene, odd: dict[str, object]
) -> None:
    scene.slack.faults.add("conversations.info", Fault(body={"ok": True, **odd}))

    assert (await scene.slack.people.slash(ALICE, OPS, "/ask", "restart web")).acked

    assert len(scene.desk.events) == 1
