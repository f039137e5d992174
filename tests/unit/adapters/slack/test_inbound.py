"""What a payload of Slack's means, and that everything else means nothing."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from adapters.slack.inbound import (
    Act,
    Finding,
    HomeOpened,
    Ignored,
    PromptsWanted,
    Route,
    Sentence,
    read,
)
from adapters.slack.payload import of
from core.events import (
    Approve,
    Ask,
    Edited,
    Invited,
    Lookup,
    Place,
    Stop,
    StopHere,
)
from core.platforms import Event
from core.principals import Identity
from tests.slack_payloads import (
    BOT,
    ID,
    ONE_OF_EACH,
    ROOT,
    TRIGGER,
    TS,
    URL,
    Body,
    changed,
    deleted,
    direct,
    event,
    joined,
    mention,
    message,
    native_stop,
    opened,
    posted,
    reply,
    slash,
)

ALICE = Identity(platform="slack", workspace="T0TEAM", user="U0ALICE")
CHANNEL = Place(platform="slack", workspace="T0TEAM", channel="C0OPS")
NEW = replace(CHANNEL, thread=TS)
THREAD = replace(CHANNEL, thread=ROOT)
DIRECT = replace(NEW, channel="D0ALICE")
TO_OPEN = replace(CHANNEL, thread=f"opens:{TRIGGER}")
IDS = (f"msg:C0OPS:{TS}", "event:Ev0PV52K21")


def did(body: Body) -> Event:
    found = read(body, BOT)
    assert isinstance(found, Act), found
    return found.event


def why(body: Body) -> str:
    found = read(body, BOT)
    assert isinstance(found, Ignored), found
    return found.why


def asked(text: str, place: Place = NEW, *, known_only: bool = False) -> Ask:
    return Ask(identity=ALICE, place=place, text=text, deliveries=IDS, known_only=known_only)


def test_each_of_the_payloads_means_something() -> None:
    assert not [body for body in ONE_OF_EACH if isinstance(read(body, BOT), Ignored)]


# Asking


def test_a_mention_asks_and_its_message_becomes_the_thread() -> None:
    assert did(mention("<@U0BOT> restart web")) == asked("restart web")


def test_p02_both_events_of_one_post_are_the_same_in_either_order() -> None:
    one, other = read(mention("<@U0BOT> go"), BOT), read(message("<@U0BOT> go"), BOT)
    assert one == other
    assert isinstance(one, Act)


def test_p02_the_same_post_has_one_id_under_whichever_event_it_comes() -> None:
    again = did({**mention("<@U0BOT> restart web"), "event_id": "Ev0OTHER"})
    assert isinstance(again, Ask)
    assert again.deliveries == (f"msg:C0OPS:{TS}", "event:Ev0OTHER")


def test_a_post_is_known_by_its_place_alone_where_the_event_has_no_id() -> None:
    found = did({**mention("<@U0BOT> restart web"), "event_id": None})
    assert isinstance(found, Ask)
    assert found.deliveries == (f"msg:C0OPS:{TS}",)


def test_a_mention_in_a_thread_asks_there() -> None:
    assert did(mention("<@U0BOT> restart web", thread_ts=ROOT)) == asked("restart web", THREAD)
    assert did(reply("look, <@U0BOT>, restart web")) == asked("look, @U0BOT, restart web", THREAD)


def test_a_reply_asks_only_where_the_thread_is_a_conversation() -> None:
    assert did(reply("and worker")) == asked("and worker", THREAD, known_only=True)


def test_a_reply_to_somebody_else_is_theirs() -> None:
    assert why(reply("<@U0CAROL> look at this")) == "nobody spoke to Sayso"
    assert why(reply("<!subteam^S1|@sre> look at this")) == "nobody spoke to Sayso"


def test_a_message_to_nobody_is_for_nobody() -> None:
    assert why(message("restart web")) == "nobody spoke to Sayso"
    assert why(message("stop")) == "nobody spoke to Sayso"
    assert why(message("restart web", thread_ts=TS)) == "nobody spoke to Sayso"
    assert why(message("restart web", channel_type="mpim", channel="G0MANY")) == (
        "nobody spoke to Sayso"
    )


def test_where_only_mentions_count_a_reply_is_for_nobody_but_stop_stays() -> None:
    assert read(reply("and worker"), BOT, mentions_only=True) == Ignored(
        why="nobody spoke to Sayso"
    )
    assert read(reply("!runs"), BOT, mentions_only=True) == Ignored(why="nobody spoke to Sayso")
    for text in ("stop", "!stop"):
        found = read(reply(text), BOT, mentions_only=True)
        assert isinstance(found, Act)
        assert found.event == StopHere(identity=ALICE, place=THREAD, known_only=True)
    for body in (reply("<@U0BOT> and worker"), direct("restart web")):
        assert read(body, BOT, mentions_only=True) == read(body, BOT)


def test_a_direct_message_is_for_sayso_and_is_the_root_of_its_own_thread() -> None:
    found = did(direct("restart web"))
    assert isinstance(found, Ask)
    assert (found.place, found.text, found.known_only) == (DIRECT, "restart web", False)
    assert found.deliveries[0] == f"msg:D0ALICE:{TS}"


def test_a_reply_in_a_direct_message_belongs_to_its_thread() -> None:
    found = did(direct("and worker", thread_ts=ROOT))
    assert isinstance(found, Ask)
    assert found.place == replace(DIRECT, thread=ROOT)


def test_what_comes_with_a_file_or_is_sent_to_the_channel_too_counts() -> None:
    assert did(reply("see this", subtype="file_share", files=[])) == did(reply("see this"))
    assert did(reply("see this", subtype="thread_broadcast")) == did(reply("see this"))


def test_a_mention_without_a_word_is_told_what_to_say() -> None:
    found = read(mention("<@U0BOT>"), BOT)
    assert found == Sentence(
        text="Say what you need, as in: ask health", route=Route(channel="C0OPS", user="U0ALICE")
    )
    assert why(reply("", subtype="file_share")) == "there is no text in it"


def test_an_act_says_how_to_reach_whoever_did_it() -> None:
    assert read(reply("!runs"), BOT) == Act(
        event=Lookup(identity=ALICE, place=THREAD, at="runs", known_only=True),
        route=Route(channel="C0OPS", user="U0ALICE", thread=ROOT),
        kind="event",
    )


def test_an_event_that_says_it_is_a_mention_is_one() -> None:
    assert did(mention("restart web")) == asked("restart web")


def test_what_no_store_takes_is_replaced() -> None:
    assert did(mention("<@U0BOT> a\udc80\0b")) == asked("a\ufffd\ufffdb")


# Commands in messages


@pytest.mark.parametrize("text", ["stop", "!stop", "Stop ", "<@U0BOT> stop", "<@U0BOT> !stop"])
def test_p22_stop_in_a_thread_stops_there(text: str) -> None:
    is_called = text.startswith("<")
    assert did(reply(text)) == StopHere(identity=ALICE, place=THREAD, known_only=not is_called)
    assert did(direct(text, thread_ts=ROOT)) == StopHere(
        identity=ALICE, place=replace(DIRECT, thread=ROOT)
    )


@pytest.mark.parametrize("text", ["stop", "!stop", "<@U0BOT> stop"])
def test_stop_outside_of_a_thread_means_what_they_may_stop(text: str) -> None:
    assert did(direct(text)) == Stop(identity=ALICE)


@pytest.mark.parametrize("text", ["stop the deploy", "st\u200bop", "!nice work", "lgtm", "approve"])
def test_p03_p22_p39_what_is_only_like_a_command_is_a_message(text: str) -> None:
    assert did(reply(text)) == asked(text, THREAD, known_only=True)


def test_p19_commands_are_read_after_slack_is_undone() -> None:
    assert did(mention("<@U0BOT> echo a &amp;&amp; b &lt; c")) == asked("echo a && b < c")
    assert did(reply("&lt;@U0BOT&gt; stop")) == asked("<@U0BOT> stop", THREAD, known_only=True)
    assert did(reply(f"&gt; approve {ID}")) == asked(f"> approve {ID}", THREAD, known_only=True)


def test_p39_an_id_approves_and_nothing_less_does() -> None:
    approved = Approve(identity=ALICE, request=ID)
    for body in (
        reply(f"!approve {ID}"),
        mention(f"<@U0BOT> approve {ID}"),
        direct(f"approve {ID}"),
    ):
        assert did(body) == approved
    assert did(reply(f"approve {ID}")) == asked(f"approve {ID}", THREAD, known_only=True)
    for body in (reply("!approve"), mention("<@U0BOT> approve it"), direct("approve")):
        found = read(body, BOT)
        assert isinstance(found, Sentence)
        assert "Nothing was approved" in found.text


# What never starts anything


@pytest.mark.parametrize(
    "inner",
    [
        {"bot_id": "B0OTHER"},
        {"bot_id": "B0BOT", "user": "U0BOT"},
        {"subtype": "bot_message", "bot_id": "B0HOOK"},
        {"bot_profile": {"id": "B0OTHER"}},
        {"app_id": "A0OTHER"},
        {"workflow_id": "Wf0FLOW"},
        {"user": "U0BOT"},
        {"user": "USLACKBOT"},
    ],
)
def test_p09_p10_software_starts_nothing(inner: Mapping[str, object]) -> None:
    for body in (mention("<@U0BOT> go", **inner), reply("!stop", **inner), direct("go", **inner)):
        assert why(body) == "software wrote it"


@pytest.mark.parametrize(
    "inner",
    [
        {"subtype": "channel_join"},
        {"subtype": "me_message"},
        {"subtype": "message_replied", "hidden": True},
        {"subtype": "assistant_app_thread"},
        {"subtype": "a_kind_of_tomorrow"},
        {"subtype": 7},
        {"hidden": True},
        {"edited": {"user": "U0ALICE", "ts": "1782234720.000000"}},
    ],
)
def test_p10_no_other_kind_of_message_starts_anything(inner: Mapping[str, object]) -> None:
    for body in (mention("<@U0BOT> go", **inner), direct("go", **inner)):
        assert why(body) == "it is of a kind that Sayso does not read"


def test_what_lacks_what_a_message_has_is_no_message() -> None:
    for lacking in ("user", "channel", "ts"):
        assert why(mention("<@U0BOT> go", **{lacking: None})) == "it cannot be understood"
    assert why(mention("<@U0BOT> go", ts="yesterday")) == "it cannot be understood"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"type": "event_callback"},
        event({"type": "reaction_added", "reaction": "white_check_mark", "user": "U0ALICE"}),
        event({"type": "app_context_changed", "context": {}}),
        {"type": "block_suggestion", "team_id": "T0TEAM", "api_app_id": "A0APP"},
        slash("/dance", "now"),
    ],
)
def test_what_sayso_does_not_read_is_ignored(body: Body) -> None:
    assert isinstance(read(body, BOT), Ignored)


@pytest.mark.parametrize("body", ONE_OF_EACH)
def test_another_app_or_another_workspace_is_not_ours(body: Body) -> None:
    foreign = "it is for another workspace or app"
    assert why({**body, "api_app_id": "A0OTHER"}) == foreign
    assert why({key: value for key, value in body.items() if key != "api_app_id"}) == foreign
    elsewhere = {
        "team_id": "T0OTHER",
        "team": {"id": "T0OTHER"},
        "authorizations": [{"team_id": "T0OTHER"}],
        "message": {"team": "T0OTHER"},
        "view": {**of(body.get("view")), "team_id": "T0OTHER", "app_installed_team_id": "T0OTHER"},
    }
    assert why({**body, **elsewhere}) == foreign


@pytest.mark.parametrize("body", ONE_OF_EACH)
def test_where_slack_does_not_say_which_app_it_is_the_workspace_still_counts(body: Body) -> None:
    unsaid = replace(BOT, app="")
    assert not isinstance(read(body, unsaid), Ignored)
    assert isinstance(read(body, replace(unsaid, team="T0OTHER")), Ignored)


# Edits


BEFORE = posted("restart web", thread_ts=ROOT)


def edit(text: str, **inner: object) -> Mapping[str, object]:
    return posted(text, thread_ts=ROOT, edited={"user": "U0ALICE", "ts": "1.2"}, **inner)


def edited_to(text: str, place: Place = THREAD) -> Edited:
    return Edited(identity=ALICE, place=place, delivery=IDS[0], text=text)


def test_p10_other_words_are_an_edit_of_the_message_that_came_in() -> None:
    assert did(changed(edit("restart worker"), BEFORE)) == edited_to("restart worker")
    now = posted("<@U0BOT> stop &amp; go", edited={"user": "U0ALICE"})
    assert did(changed(now, posted("<@U0BOT> go"))) == edited_to("stop & go", NEW)


@pytest.mark.parametrize(
    "now",
    [
        posted("restart web", thread_ts=ROOT, attachments=[{"from_url": "https://a.b"}]),
        edit("restart web"),
        edit("<@U0BOT> restart web"),
        edit("restart web "),
    ],
)
def test_p10_a_preview_or_a_mention_changes_no_word(now: Mapping[str, object]) -> None:
    assert why(changed(now, BEFORE)) == "it is an edit that changes no word"


def test_an_edit_without_what_was_there_before_counts_where_somebody_edited() -> None:
    assert did(changed(edit("restart worker"), {})) == edited_to("restart worker")
    assert why(changed(BEFORE, {})) == "it is an edit that changes no word"


def test_p10_what_was_taken_back_says_nothing_any_more() -> None:
    assert did(deleted(BEFORE)) == edited_to("")
    tombstone = posted("This message was deleted.", user="USLACKBOT", subtype="tombstone")
    assert did(changed(tombstone, posted("<@U0BOT> go", thread_ts=TS))) == edited_to("", NEW)


def test_p10_our_own_edits_and_those_of_others_bots_are_nothing() -> None:
    ours = posted("It ran", user="U0BOT", bot_id="B0BOT")
    assert why(changed(ours, posted("It runs", user="U0BOT", bot_id="B0BOT"))) == (
        "software wrote it"
    )
    assert why(deleted(ours)) == "software wrote it"
    assert why(deleted({})) == "it cannot be understood"


# Slash commands


def test_ask_opens_a_thread_of_its_own() -> None:
    assert read(slash("/ask", " restart web &amp; worker "), BOT) == Act(
        event=Ask(
            identity=ALICE,
            place=TO_OPEN,
            text="restart web & worker",
            deliveries=(f"trigger:{TRIGGER}",),
        ),
        route=Route(channel="C0OPS", user="U0ALICE", response_url=URL, trigger=TRIGGER),
        kind="command",
    )
    assert not TO_OPEN.is_opened


SLASHES: dict[tuple[str, str], Event] = {
    ("/stop", ""): Stop(identity=ALICE),
    ("/stop", "all"): Stop(identity=ALICE, everything=True),
    ("/stop", "c_1"): Stop(identity=ALICE, conversation="c_1"),
    ("/sayso", ""): Lookup(identity=ALICE, place=TO_OPEN, at="help"),
    ("/sayso", "stop"): Stop(identity=ALICE),
    ("/sayso", "runs"): Lookup(identity=ALICE, place=TO_OPEN, at="runs"),
    ("/sayso", f"approve {ID}"): Approve(identity=ALICE, request=ID),
    ("/sayso", "restart web"): Ask(
        identity=ALICE, place=TO_OPEN, text="restart web", deliveries=(f"trigger:{TRIGGER}",)
    ),
    ("/ask", "stop the deploy"): Ask(
        identity=ALICE, place=TO_OPEN, text="stop the deploy", deliveries=(f"trigger:{TRIGGER}",)
    ),
}


@pytest.mark.parametrize(("command", "text"), SLASHES)
def test_a_slash_command_means_one_thing(command: str, text: str) -> None:
    assert did(slash(command, text)) == SLASHES[command, text]


@pytest.mark.parametrize(
    ("command", "text", "said"),
    [
        ("/ask", "  ", "/ask health"),
        ("/stop", "this and that", "takes nothing"),
        ("/sayso", "approve", "Nothing was approved"),
        ("/sayso", "deny it", "Nothing was denied"),
    ],
)
def test_a_slash_command_that_is_misused_is_told_how(command: str, text: str, said: str) -> None:
    found = read(slash(command, text), BOT)
    assert isinstance(found, Sentence)
    assert said in found.text
    assert found.route.response_url == URL


@pytest.mark.parametrize("lacking", ["channel_id", "user_id", "trigger_id"])
def test_a_slash_command_that_lacks_a_part_is_not_understood(lacking: str) -> None:
    assert why({**slash("/ask", "health"), lacking: ""}) == "it cannot be understood"


def test_an_address_to_answer_to_is_one_of_the_web() -> None:
    found = read(slash("/stop", "", response_url="file:///etc/passwd"), BOT)
    assert isinstance(found, Act)
    assert found.route.response_url is None


# Other events


def test_an_invitation_is_by_whoever_invited() -> None:
    assert read(joined("U0BOT"), BOT) == Act(
        event=Invited(identity=ALICE, place=CHANNEL),
        route=Route(channel="C0OPS", user="U0ALICE"),
        kind="event",
    )
    assert why(joined("U0CAROL")) == "it is about somebody else"
    assert why(joined("U0BOT", inviter=None)) == "it cannot be understood"


def test_the_app_home_has_two_tabs() -> None:
    found: list[Finding] = [read(opened(tab), BOT) for tab in ("home", "messages", "about")]
    assert found == [
        HomeOpened(identity=ALICE),
        PromptsWanted(channel="D0ALICE", thread=None),
        Ignored(why="it cannot be understood"),
    ]
    assert why(opened("home", user=None)) == "it cannot be understood"
    assert why(opened("messages", channel=None)) == "it cannot be understood"


def test_slacks_own_stop_stops_the_thread() -> None:
    assert read(native_stop(), BOT) == Act(
        event=StopHere(identity=ALICE, place=THREAD),
        route=Route(channel="C0OPS", user="U0ALICE", thread=ROOT),
        kind="event",
    )
    assert why(native_stop(thread_ts=None)) == "it cannot be understood"
