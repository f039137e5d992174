"""What people are shown: facts of the software first, nothing missing, nothing that could fool them."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.console import draw
from approvals import cards, reports
from approvals.fresh_cards import Shown, card_for
from approvals.models import Request, Run, RunState, State, Step, StepState, Verification, Vote
from core.canonical import sha256
from core.cards import Button, Card, Fact, decode, encode
from core.plans import Call, Fingerprint, Plan, PythonStep, Retry, ToolStep
from core.ports import Ending
from core.tools import Checked
from core.transcript import AgentText
from tests.builders import TENANT, a_checked, a_plan, a_rule, a_step, a_tool
from tests.fakes.runner import ended, exited
from tests.stores import FAILED, SUCCEEDED, UNKNOWN, Stores, running, said_in, stepped

ID = "a" * 32
UNTIL = datetime(2026, 3, 1, 10, 30, 0, 999_999, tzinfo=UTC)
HOSTILE = [
    "<!channel> <@U123> <!subteam^S1|ops>",
    "@everyone @here <@&123> <#456>",
    "✅ Approved by @bob\n*Risk:* none",
    "Approved by bob.\r\nRisk: low: the requester may vote",
    "```\nWhat the agent says (nobody checked this):\n```",
    "`rm` &lt;b&gt; &amp;",
    "<https://evil.example|docs.example> [x](https://evil.example)",
    "pay\u202egnp.exe \u2066x\u2069 \u200b\u200d\u2060\ufeff",
    "\x1b[2J\x1b[31mred\x07 \x9b31m",
    "a\nb\rc\vd\x0ce\x1cf\x85g\u2028h\u2029i\0j\x7fk",
    "\U000e0041\U000e0042 \ud800 \ue000 \ufe0f \u3164",
    "раураl.com ｒｍ",
    "> quoted\n    Approve: sayso approve " + "b" * 32,
]


def shown(checked: tuple[Checked, ...] | None = None, **more: object) -> Shown:
    known = Shown(
        requester="alice",
        checked=(a_checked(),) if checked is None else checked,
        about=AgentText(),
        rule=a_rule(),
        approvers=("bob", "carol"),
        previews=(),
    )
    return replace(known, **more)  # type: ignore[arg-type]  # each test names fields of Shown


def card(*calls: Checked, room: int | None = None, **more: object) -> Card:
    checked = calls or (a_checked(),)
    how_much = {} if room is None else {"room": room}
    return card_for(a_plan(*checked), shown(checked, **more), ID, UNTIL, **how_much)


def facts(drawn: Card) -> dict[str, str]:
    return {fact.label: fact.text for fact in drawn.facts}


def of_the_software(drawn: Card) -> Iterator[str]:
    """Yield every text of a card that is neither quoted nor printed by a program."""
    yield drawn.title
    yield from drawn.plan
    yield from (f"{fact.label}: {fact.text}" for fact in drawn.facts)
    yield from drawn.warnings
    yield drawn.estimate
    yield from (f"{button.label} {button.verb} {button.request}" for button in drawn.buttons)


def is_harmless(text: str) -> bool:
    return text.isascii() and text.isprintable() and not set(text) & set("`<>&@")


def read_back(drawn: Card) -> tuple[list[object], list[list[str]]]:
    """Return the arguments and the commands that the lines of a card parse back to."""
    arguments: list[object] = []
    commands: list[list[str]] = []
    for line in drawn.plan:
        if line.startswith("  "):
            found = re.fullmatch(r"  \d+\. run (\[.*\]), at most \w+(?:, secrets \[.*\])?", line)
            assert found is not None
            commands.append(json.loads(found[1]))
        else:
            arguments.append(json.loads(line.partition(" ")[2]))
    return arguments, commands


def test_the_sections_of_a_card_have_one_order() -> None:
    assert [field.name for field in fields(Card)] == [
        "title",
        "plan",
        "facts",
        "warnings",
        "estimate",
        "preview",
        "unchecked",
        "buttons",
    ]


def test_the_console_draws_the_sections_in_the_order_of_the_card() -> None:
    drawn = draw(
        card(
            a_checked("é", file="words.txt"),
            about=AgentText(rationale="why not", limitations="many", alternatives="none"),
            previews=("would append\none line",),
        )
    )
    landmarks = [
        "Approve to run: append-word",
        '    append-word {"word": "\\u00e9", "file": "words.txt"}',
        '      0. run ["append-word", "0", "\\u00e9", "words.txt"], at most 10s',
        "Differs from defaults: nothing",
        'Where: folder "work", sandbox none',
        "Asked by: alice",
        "Risk: medium: 0 of 1 vote, not the requester",
        "May approve: bob, carol",
        "Until: 2026-03-01 10:30:00 UTC",
        "Warning: No sandbox: this runs with all the rights of Sayso's own account.",
        "Warning: append-word: an argument contains U+00E9 LATIN SMALL LETTER E WITH ACUTE.",
        "Estimate: not estimated",
        "Preview (what a dry run printed):",
        "    would append",
        "What the agent says (nobody checked this):",
        "  > why: why not",
        "  > limits: many",
        "  > instead: none",
        f"Approve: sayso approve {ID}",
        f"Deny:    sayso deny {ID} --reason WHY",
    ]
    lines = drawn.split("\n")
    positions = [lines.index(landmark) for landmark in landmarks]
    assert positions == sorted(positions)


def test_a_card_without_preview_and_agent_text_has_no_empty_sections() -> None:
    drawn = draw(card())
    assert "Preview" not in drawn
    assert "What the agent says" not in drawn


@pytest.mark.parametrize("text", HOSTILE)
def test_i7_what_the_agent_says_stays_in_quoted_lines_and_changes_nothing_else(text: str) -> None:
    about = AgentText(rationale=text, limitations=text, alternatives=text)
    hostile, plain = card(about=about), card()
    assert replace(hostile, unchecked=()) == plain
    assert all(re.match(r"(why|limits|instead): |…", line) for line in hostile.unchecked)
    assert all(line.isprintable() for line in hostile.unchecked)
    added = [line for line in draw(hostile).split("\n") if line not in draw(plain).split("\n")]
    assert added[0] == "What the agent says (nobody checked this):"
    assert all(line.startswith("  > ") for line in added[1:])


@pytest.mark.parametrize("text", HOSTILE)
def test_i6_c34_hostile_arguments_are_harmless_on_the_card_and_none_of_their_bytes_is_missing(
    text: str,
) -> None:
    # The tool here checks nothing; a lone surrogate never gets past a check, because it has no hash.
    text = text.replace("\ud800", "")
    checked = a_checked(text, file=text)
    drawn = card(checked)
    assert all(map(is_harmless, of_the_software(drawn)))
    assert read_back(drawn) == (
        [{"word": text, "file": text}],
        [["append-word", "0", text, text]],
    )


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])), st.text())
def test_i6_any_argument_parses_back_and_no_text_of_the_agent_moves_it(
    word: str, said: str
) -> None:
    drawn = card(a_checked(word), about=AgentText(rationale=said))
    assert all(map(is_harmless, of_the_software(drawn)))
    assert read_back(drawn)[0] == [{"word": word, "file": "words.txt"}]
    assert all(line.isprintable() for line in drawn.unchecked)
    assert decode(encode(drawn)) == drawn


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_dry_run_printed_stays_in_its_section_line_by_line(text: str) -> None:
    hostile = card(previews=(text,))
    assert replace(hostile, preview=()) == card()
    assert all(line.isprintable() for line in hostile.preview)


@pytest.mark.parametrize("text", ["<!channel>", "`x`", "é", "a\nb", "\u202e"])
def test_hostile_names_of_folders_files_and_secrets_are_escaped_too(text: str) -> None:
    checked = a_checked()
    call = replace(
        a_plan(checked).calls[0],
        steps=(a_step("true", secrets=(text,)),),
        fingerprints=(Fingerprint(file=text, sha256="1" * 64),),
        lock=text,
    )
    plan = Plan(calls=(call,), folder=text, sandbox="none", rules="0" * 64)
    assert all(map(is_harmless, of_the_software(card_for(plan, shown(), ID, UNTIL))))


def test_i6_dangerous_words_far_beyond_the_fold_are_all_on_the_card() -> None:
    word = "x" * 4000 + " --force"
    assert any("--force" in line for line in card(a_checked(word)).plan)


def test_i6_a_plan_that_does_not_fit_has_no_approve_button_but_one_to_review_all_of_it() -> None:
    whole = card()
    size = sum(len(line) + 1 for line in whole.plan)
    assert card(room=size) == whole
    assert [button.verb for button in whole.buttons] == ["approve", "deny"]
    cut = card(room=size - 1)
    assert cut.buttons == (
        Button(label="Review full plan", verb="review", request=ID),
        Button(label="Deny", verb="deny", request=ID),
    )
    assert cut.plan == ("1 calls; the full plan does not fit here",)
    assert replace(cut, plan=whole.plan, buttons=whole.buttons) == whole
    assert "approve" not in draw(replace(cut, title="", facts=()))


def test_i5_a_button_carries_the_id_of_the_request_and_nothing_else() -> None:
    assert {button.request for button in card().buttons} == {ID}
    assert [field.name for field in fields(Button)] == ["label", "verb", "request"]


def test_several_calls_are_shown_in_order_with_every_step_numbered_as_the_run_counts_them() -> None:
    drawn = card(a_checked(tool=a_tool("one", steps=2)), a_checked(tool=a_tool("two")))
    assert drawn.title == "Approve to run: one, two"
    assert [line.split(" {")[0].split(",")[0] for line in drawn.plan] == [
        "one",
        '  0. run ["one"',
        '  1. run ["one"',
        "two",
        '  2. run ["two"',
    ]


def test_the_secrets_of_a_step_are_named_and_its_time_limit_told() -> None:
    call = replace(
        a_plan().calls[0], steps=(a_step("true", timeout_ms=90_000, secrets=("TOKEN", "KEY")),)
    )
    plan = replace(a_plan(), calls=(call,))
    assert card_for(plan, shown(), ID, UNTIL).plan[1] == (
        '  0. run ["true"], at most 1m30s, secrets ["TOKEN", "KEY"]'
    )


def test_what_differs_from_the_defaults_and_what_they_filled_in_are_told_apart() -> None:
    drawn = facts(card(a_checked("x", file="other.txt"), a_checked("y")))
    assert drawn["Differs from defaults"] == ('append-word file is "other.txt", not "words.txt"')
    assert drawn["Filled in by default"] == "append-word file"
    assert "Filled in by default" not in facts(card(a_checked("x", file="words.txt")))


def test_the_files_that_it_depends_on_are_named_with_what_they_held() -> None:
    def watching(*prints: Fingerprint) -> Plan:
        calls: tuple[Call, ...] = (replace(a_plan().calls[0], fingerprints=prints),)
        return replace(a_plan(), calls=calls)

    plan = watching(
        Fingerprint(file="a.json", sha256="0123456789abcdef" * 4),
        Fingerprint(file="b.json", sha256=None),
    )
    assert facts(card_for(plan, shown(), ID, UNTIL))["Depends on"] == (
        '"a.json" (0123456789ab), "b.json" (missing)'
    )
    assert "Depends on" not in facts(card_for(watching(), shown(), ID, UNTIL))


def test_a_plan_that_waits_for_others_says_for_which_after_the_files_it_depends_on() -> None:
    tools = [a_tool(lock=lock) for lock in ("{word}/`@prod", None, "{word}/`@prod", "a")]
    drawn = card(*(a_checked("web", tool=tool, file="x") for tool in tools))
    assert facts(drawn)["Waits for"] == ('other runs that hold "a", "web/\\u0060\\u0040prod"')
    assert "Waits for" not in facts(card())
    plan = a_plan(a_checked(tool=a_tool(lock="a", fingerprints=("f",))))
    labels = list(facts(card_for(plan, shown(), ID, UNTIL)))
    assert labels[labels.index("Depends on") + 1] == "Waits for"


def test_the_plans_name_and_whole_hash_are_on_the_card() -> None:
    plan = a_plan(a_checked())
    assert facts(card())["Plan"] == f"{plan.id} sha256 {plan.sha256}"


def test_software_warns_when_too_few_people_may_approve_and_when_nobody_may() -> None:
    two = card(rule=a_rule(2), approvers=("bob",))
    assert "Only 1 person may approve this now; 2 must." in two.warnings
    nobody = card(approvers=())
    assert facts(nobody)["May approve"] == "nobody"
    assert "Nobody may approve this now; 1 must." in nobody.warnings


def test_in_a_sandbox_and_with_plain_arguments_there_is_nothing_to_warn_of() -> None:
    plan = a_plan(sandbox="bwrap")
    assert card_for(plan, shown(), ID, UNTIL).warnings == ()


def test_every_odd_character_of_an_argument_is_named_once() -> None:
    warnings = card(a_checked("раура \u202e \u202e")).warnings
    named = [line for line in warnings if "an argument contains" in line]
    assert len(named) == len(set(named)) == 4
    assert "append-word: an argument contains U+202E RIGHT-TO-LEFT OVERRIDE." in named
    assert "append-word: an argument contains U+0430 CYRILLIC SMALL LETTER A." in named


@pytest.mark.parametrize(
    ("approvers", "words"),
    [(("alice", "bob"), "0 of 1 vote, the requester may vote"), (("bob", "carol"), "0 of 1 vote")],
)
def test_a_requester_without_the_right_is_not_told_to_vote_by_the_rule(
    approvers: tuple[str, ...], words: str
) -> None:
    drawn = card(rule=a_rule(1, requester_may_vote=True), approvers=approvers)
    opened = replace(
        request(State.OPEN),
        rule=a_rule(1, requester_may_vote=True),
        card_body=encode(drawn),
        card_sha256=sha256(encode(drawn)),
    )
    assert facts(drawn)["Risk"].endswith(f": {words}")
    assert cards.status(opened) == f"Open: {words}."
    assert cards.reminder(opened, approvers).startswith(f"Still waiting: {words}, until")


@pytest.mark.parametrize(
    ("quorum", "own", "votes", "words"),
    [
        (1, True, 0, "0 of 1 vote, the requester may vote"),
        (2, False, 1, "1 of 2 votes, not the requester"),
    ],
)
def test_the_rule_in_words(
    quorum: int,
    own: bool,  # noqa: FBT001 - a column of the table
    votes: int,
    words: str,
) -> None:
    assert cards.rule_in_words(a_rule(quorum, own), votes) == words


@pytest.mark.parametrize(
    ("people", "words"),
    [
        ((), ""),
        (("bob",), "bob"),
        (("bob", "carol"), "bob and carol"),
        (("bob", "carol", "dave"), "bob, carol and dave"),
    ],
)
def test_names_in_words(people: tuple[str, ...], words: str) -> None:
    assert cards.names(people) == words


def request(state: State, *voters: str, reason: str = "", by: str | None = None) -> Request:
    plan, opened = a_plan(), UNTIL - timedelta(hours=1)
    return Request(
        id=ID,
        tenant=TENANT,
        conversation="c_1",
        turn="t_1",
        requester="alice",
        plan_body=plan.canonical,
        plan_sha256=plan.sha256,
        rule=a_rule(2),
        state=state,
        votes=tuple(Vote(principal=name, at=opened) for name in voters),
        about=AgentText(),
        card_body=encode(card()),
        card_sha256=sha256(encode(card())),
        times_asked=1,
        opened_at=opened,
        expires_at=UNTIL,
        ended_by=by,
        reason=reason,
    )


STATUS = [
    (request(State.OPEN), "Open: 0 of 2 votes, not the requester."),
    (request(State.OPEN, "bob"), "Open: 1 of 2 votes, not the requester (bob)."),
    (
        request(State.GRANTED, "bob", "carol"),
        "Approved by bob and carol; waiting to run.",
    ),
    (request(State.SPENT, "bob", "carol"), "Approved by bob and carol."),
    (request(State.DENIED, by="bob"), "Denied by bob, no reason given."),
    (request(State.DENIED, by="bob", reason="no\nway"), "Denied by bob: no way."),
    (request(State.DENIED, by="bob", reason="Not today."), "Denied by bob: Not today."),
    (request(State.DENIED, by="bob", reason="why now?"), "Denied by bob: why now?"),
    (
        request(State.EXPIRED, "bob"),
        "Expired at 2026-03-01 10:30:00 UTC with 1 of 2 votes. Ask again to get a new card.",
    ),
    (
        request(State.REVOKED, reason="the rules\u202e changed"),
        "Revoked: the rules\\u202e changed. Ask again to see it as it is now.",
    ),
    (
        request(State.REVOKED, reason="bob stopped it"),
        "Revoked: bob stopped it. Ask again if it is still wanted.",
    ),
    (
        request(State.REVOKED, reason="alice may no longer ask for it"),
        "Revoked: alice may no longer ask for it. Asking again helps once that is changed.",
    ),
    (
        request(State.SUPERSEDED, by="alice"),
        "Superseded: alice asked again, so there is a newer card.",
    ),
]


@pytest.mark.parametrize(("it", "line"), STATUS)
def test_each_state_has_one_line_that_says_who_brought_it_there(it: Request, line: str) -> None:
    assert cards.status(it) == line


def test_every_state_is_among_the_lines_above() -> None:
    assert {it.state for it, _ in STATUS} == set(State)


@pytest.mark.parametrize(("it", "line"), STATUS)
def test_who_comes_too_late_is_told_whether_people_decided(it: Request, line: str) -> None:
    decided = it.state in {State.GRANTED, State.SPENT, State.DENIED}
    assert cards.too_late(it) == (f"Already decided. {line}" if decided else line)


def step(index: int, state: StepState, **more: object) -> Step:
    known = Step(index=index, tool="append-word", state=state, exit_code=None, output="", note="")
    return replace(known, **more)  # type: ignore[arg-type]  # each test names fields of Step


def run(state: RunState, *steps: Step) -> Run:
    return Run(
        id="r_1",
        tenant=TENANT,
        conversation="c_1",
        request=ID,
        plan="p_0123456789ab",
        voters=("bob", "carol"),
        state=state,
        fence=1,
        steps=steps,
        started_at=UNTIL,
        ended_at=None,
    )


def test_the_card_of_a_granted_request_keeps_its_buttons() -> None:
    it = request(State.GRANTED, "bob")
    assert cards.drawn(it, None) == (it.card, cards.status(it))


def test_what_is_open_can_be_edited_too_where_it_has_arguments() -> None:
    it = request(State.OPEN, "bob")
    drawn, told = cards.drawn(it, None)
    approve, deny = it.card.buttons
    edit = Button(label="Edit", verb="edit", request=ID)
    assert (drawn.buttons, told) == ((approve, edit, deny), cards.status(it))
    bare = replace(a_plan(), calls=tuple(replace(c, arguments={}) for c in a_plan().calls))
    none = replace(it, plan_body=bare.canonical, plan_sha256=bare.sha256)
    assert cards.drawn(none, None)[0].buttons == (approve, deny)
    altered = replace(it, plan_body=f"{it.plan_body} ")
    assert cards.drawn(altered, None)[0].buttons == (approve, deny)


@pytest.mark.parametrize("state", [State.DENIED, State.EXPIRED, State.REVOKED])
def test_what_may_be_asked_again_has_a_button_for_that_and_no_other(state: State) -> None:
    it = request(state, by="bob")
    drawn, told = cards.drawn(it, None)
    assert drawn.buttons == (Button(label="Ask again", verb="again", request=ID),)
    assert (replace(drawn, buttons=it.card.buttons), told) == (it.card, cards.status(it))


@pytest.mark.parametrize("state", [State.SPENT, State.SUPERSEDED])
def test_nothing_is_left_to_press_once_it_runs_or_there_is_a_newer_card(state: State) -> None:
    drawn, _ = cards.drawn(request(state, "bob", by="dave"), None)
    assert drawn.buttons == ()


def test_what_runs_is_told_with_what_has_become_of_it() -> None:
    _, told = cards.drawn(request(State.SPENT, "bob"), run(RunState.FAILED))
    assert told == "Approved by bob. Run r_1: failed."


@pytest.mark.parametrize("state", RunState)
def test_i4_only_an_unknown_end_is_for_a_person_to_resolve(state: RunState) -> None:
    it = run(state)
    verbs = ["verify", "happened", "did_not", "again"] if state is RunState.UNKNOWN else []
    assert [button.verb for button in reports.choices(it)] == verbs
    assert {button.request for button in reports.choices(it)} <= {it.request}


def test_a_run_that_can_be_undone_offers_that_alone() -> None:
    it = run(RunState.SUCCEEDED)
    [undo] = reports.choices(it, undo=True)
    assert (undo.label, undo.verb, undo.request) == ("Undo", "undo", it.request)


def test_x2_a_card_says_what_it_would_undo_and_what_may_have_happened_already() -> None:
    drawn = card(undoes="r_1", doubts=("r_2", "r_3"))
    assert drawn.facts[0] == Fact(label="What for", text="Undo of run r_1")
    assert drawn.warnings[:2] == (
        "A step of run r_2 may have happened already.",
        "A step of run r_3 may have happened already.",
    )
    assert facts(card()).keys().isdisjoint({"What for"})


def test_a_reminder_says_whose_votes_are_missing_and_until_when() -> None:
    it = request(State.OPEN, "bob")
    assert cards.reminder(it, ("carol", "dave")) == (
        "Still waiting: 1 of 2 votes, not the requester, until 2026-03-01 10:30:00 UTC. "
        "May approve: carol and dave."
    )
    assert cards.reminder(it, ()).endswith("May approve: nobody.")


def test_a_report_tells_each_step_with_its_end_and_what_it_printed() -> None:
    failed = run(
        RunState.FAILED,
        step(0, StepState.SUCCEEDED, exit_code=0, output="one\ntwo\n"),
        step(1, StepState.FAILED, exit_code=3, note="odd"),
        step(2, StepState.NOT_RUN),
        step(3, StepState.PENDING, output="never shown"),
    )
    assert reports.report(failed) == (
        "Run r_1 failed: append-word.\n"
        "  0. append-word succeeded (exit code 0)\n"
        "     one\n"
        "     two\n"
        "  1. append-word failed (exit code 3): odd\n"
        "  2. append-word not run\n"
        "  3. append-word pending\n"
        "Approved by bob and carol; plan p_0123456789ab."
    )


@pytest.mark.parametrize(
    ("state", "states", "told"),
    [
        (RunState.FAILED, "succeeded failed succeeded", "2 succeeded, 1 failed"),
        (RunState.UNKNOWN, "failed unknown not_run", "1 failed, 1 unknown, 1 not run"),
        (RunState.CANCELLED, "failed failed not_run", "2 failed, 1 not run"),
    ],
)
def test_a_report_counts_the_steps_where_some_ran_behind_a_failed_one(
    state: RunState, states: str, told: str
) -> None:
    steps = [step(n, StepState(one)) for n, one in enumerate(states.split())]
    lenient = [replace(one, on_failure="continue") for one in steps]
    assert f"\nOf its 3 steps, {told}.\n" in reports.report(run(state, *lenient))
    assert "Of its" not in reports.report(run(state, *steps))


@pytest.mark.parametrize(
    ("source", "code"), [("abcdef0123456789" * 4, " (code abcdef012345)"), (None, "")]
)
def test_i6_a_card_shows_the_function_its_code_and_all_that_it_is_given(
    source: str | None, code: str
) -> None:
    step = PythonStep(
        function="team.notes:add",
        source=source,
        arguments={"text": "<é>", "n": [1, None]},
        timeout_ms=1000,
        memory_bytes=2**30,
        output_bytes=1000,
        secrets=("TOKEN",),
        network=True,
    )
    plan = a_plan(a_checked())
    plan = replace(plan, calls=(replace(plan.calls[0], steps=(step,)),))
    drawn = card_for(plan, shown((a_checked(),)), ID, UNTIL)
    assert drawn.plan[1] == (
        f'  0. call "team.notes:add"{code} with {{"text": "\\u003c\\u00e9\\u003e", "n": [1, null]}}, '
        "at most 1s, 1073741824 bytes of memory, 1000 bytes of output, with the network, "
        'secrets ["TOKEN"]'
    )


def test_i6_a_card_shows_the_server_its_tool_and_all_that_it_is_given() -> None:
    step = ToolStep(
        server="notes",
        argv=("./notes", "--home", "a b"),
        tool="add",
        definition="1" * 64,
        arguments={"text": "<é>"},
        timeout_ms=1000,
        memory_bytes=4 * 2**30,
        secrets=("TOKEN",),
        network=True,
    )
    plan = a_plan(a_checked())
    plan = replace(plan, calls=(replace(plan.calls[0], steps=(step,)),))
    drawn = card_for(plan, shown((a_checked(),)), ID, UNTIL)
    assert drawn.plan[1] == (
        '  0. start the MCP server "notes", ["./notes", "--home", "a b"], and call "add" with '
        '{"text": "\\u003c\\u00e9\\u003e"}, at most 1s, with the network, secrets ["TOKEN"]'
    )


def test_a_card_says_how_often_a_step_is_tried_and_what_runs_where_it_fails() -> None:
    retry = Retry(times=2, wait_ms=1500)
    again = card(a_checked(tool=a_tool(retry=retry)))
    assert again.plan[1].endswith(", at most 10s, up to 3 tries 1s500ms apart")
    both = card(a_checked(tool=a_tool(retry=retry, on_failure="continue")))
    past = card(a_checked(tool=a_tool(on_failure="continue")))
    for drawn in (both, past):
        assert drawn.plan[1].endswith(", and if it fails the rest runs all the same")
    assert "tries" not in past.plan[1]


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (RunState.UNKNOWN, "Nothing is tried again; look, then say which with /resolve r_1 INDEX "),
        (
            RunState.CANCELLED,
            "It was stopped between steps: what is marked not run did not happen.",
        ),
    ],
)
def test_a_report_says_what_to_do_about_an_end_that_needs_somebody(
    state: RunState, told: str
) -> None:
    assert told in reports.report(run(state, step(0, StepState.NOT_RUN)))
    assert told not in reports.report(run(RunState.SUCCEEDED, step(0, StepState.SUCCEEDED)))


TYPED = (
    "/resolve r_1 1 happened (or did-not) in a chat at a terminal, with the buttons below its "
    "report, or with sayso resolve r_1 1 --happened (or --did-not) in a shell"
)
"""What ends an unknown step, as it can be typed in either place."""


def test_a_report_of_an_unknown_step_says_what_to_type_in_a_chat_and_in_a_shell() -> None:
    unknown = run(
        RunState.UNKNOWN,
        step(0, StepState.SUCCEEDED),
        step(1, StepState.UNKNOWN),
        step(2, StepState.NOT_RUN),
    )
    assert (
        f"say which with {TYPED}; where its runbook has a verify, `verify` in that place looks."
        in (reports.report(unknown))
    )


def test_no_line_that_a_program_printed_stands_where_the_software_speaks() -> None:
    output = "\n".join(HOSTILE)
    told = reports.report(run(RunState.SUCCEEDED, step(0, StepState.SUCCEEDED, output=output)))
    ours = [line for line in told.split("\n") if not line.startswith("     ")]
    assert ours == [
        "Run r_1 succeeded: append-word.",
        "  0. append-word succeeded",
        "Approved by bob and carol; plan p_0123456789ab.",
    ]


def test_what_looking_at_a_step_printed_is_told_as_output_and_decides_nothing() -> None:
    unknown = run(RunState.UNKNOWN, step(0, StepState.SUCCEEDED), step(1, StepState.UNKNOWN))
    seen = Verification(run=unknown, index=1, principal="bob", ended=exited(0, "one\ntwo\n"))
    assert reports.verification(seen) == (
        "bob verified step 1 of run r_1, append-word: exit code 0.\n"
        "     one\n"
        "     two\n"
        f"This decides nothing. Judge by what was printed, then say which with {TYPED}."
    )
    hostile = replace(seen, ended=ended(Ending.TIMED_OUT, "\n".join(HOSTILE)))
    first, *printed, last = reports.verification(hostile).split("\n")
    assert first == (
        "bob verified step 1 of run r_1, append-word: it ran longer than its time limit."
    )
    assert all(line.startswith("     ") for line in printed)
    assert last == reports.verification(seen).split("\n")[-1]


@pytest.mark.parametrize("ends", [(SUCCEEDED,), (FAILED,), (UNKNOWN,)])
async def test_a_report_rebuilt_from_the_store_is_the_one_that_was_told(
    stores: Stores, ends: tuple[object, ...]
) -> None:
    started = await running(stores)
    ended = await stepped(stores, started, *ends)  # type: ignore[arg-type]  # each is a StepEnd
    [told] = await said_in(stores, started.conversation, "report")
    read = await stores.runs.run(TENANT, started.id)
    assert read is not None
    assert reports.report(read) == reports.report(ended) == told


def test_above_what_can_be_chosen_a_report_names_no_command_of_the_shell() -> None:
    unknown = run(RunState.UNKNOWN, step(0, StepState.UNKNOWN, output="sayso resolve"))
    told = reports.in_chat(reports.report(unknown), unknown)
    assert "Nothing is tried again; look, then say which below.\n" in told
    assert told.count("sayso resolve") == 1
    ended = run(RunState.FAILED, step(0, StepState.NOT_RUN))
    assert reports.in_chat(reports.report(unknown), ended) == reports.report(unknown)
