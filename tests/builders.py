"""Values with sensible defaults, so that a test names only what it is about."""

from collections.abc import Sequence
from datetime import timedelta

from pydantic import BaseModel, ConfigDict

from approvals.fresh_cards import Shown, card_for
from approvals.models import Rule
from approvals.proposals import NewRequest, Proposal
from core import ids
from core.canonical import Json, JsonObject, sha256
from core.conversations import Closing, NewTurn, Turn
from core.events import Place
from core.jobs import Claim
from core.plans import Call, Fingerprint, OnFailure, Plan, Retry, RunStep
from core.tools import Caller, Checked, Effect, Tool, Work
from core.transcript import AgentText
from core.wishes import Words

TENANT = "acme"
CONVERSATION = "c_1"
TURN = "t_1"
CALLS: Claim = ("turn:t_calls", 1)
"""Under which `a_caller` calls; `tests.stores.hold_calls` has a process hold it."""
PLACE = Place(platform="console", workspace="local", channel="terminal")
THREAD = Place(platform="slack", workspace="T1", channel="ops", thread="17.1")


class WordArguments(BaseModel):
    """What `a_tool` takes: a word, a file with a default, and whether to shout."""

    model_config = ConfigDict(extra="forbid", strict=True)

    word: str
    file: str
    loud: bool = False


def a_step(
    *argv: str,
    timeout_ms: int = 10_000,
    secrets: tuple[str, ...] = (),
    network: bool = False,
    retry: Retry | None = None,
    on_failure: OnFailure = "stop",
) -> RunStep:
    """Return one command."""
    return RunStep(
        argv=argv or ("true",),
        timeout_ms=timeout_ms,
        memory_bytes=4 * 2**30,
        secrets=secrets,
        network=network,
        retry=retry,
        on_failure=on_failure,
    )


def a_tool(
    name: str = "append-word",
    *,
    effect: Effect = Effect.WRITE,
    risk: str = "medium",
    definition: str | None = None,
    defaults: JsonObject | None = None,
    steps: int = 1,
    retry: Retry | None = None,
    on_failure: OnFailure = "stop",
    verify: bool = False,
    lock: str | None = None,
    fingerprints: tuple[str, ...] = (),
    preview: RunStep | None = None,
    preview_binds: bool = False,
) -> Tool:
    """Return a tool that appends `word` to `file`, in so many steps; `lock` may hold `{word}`."""

    def expand(arguments: JsonObject) -> Work:
        given = [str(arguments["word"]), str(arguments["file"])]
        return Work(
            steps=tuple(
                a_step(name, str(number), *given, retry=retry, on_failure=on_failure)
                for number in range(steps)
            ),
            verify=a_step("verify", *given) if verify else None,
            lock=lock.format(**arguments) if lock is not None else None,
            fingerprints=fingerprints,
            preview=preview,
            preview_binds=preview_binds,
        )

    return Tool(
        name=name,
        summary="Append a word to a file",
        effect=effect,
        risk=risk,
        definition=definition or sha256(f"the definition of {name}"),
        parameters=WordArguments,
        defaults={"file": "words.txt"} if defaults is None else defaults,
        expand=expand,
    )


def a_caller(
    principal: str = "alice",
    *,
    tenant: str = TENANT,
    conversation: str = CONVERSATION,
    turn: str = TURN,
    call: str = "",
) -> Caller:
    """Return for whom a tool of Sayso's own is called."""
    return Caller(
        tenant=tenant,
        principal=principal,
        conversation=conversation,
        turn=turn,
        call=call,
        claim=CALLS,
    )


def a_checked(word: str = "alpha", *, tool: Tool | None = None, **arguments: Json) -> Checked:
    """Return a call of `tool` that it accepted."""
    return (tool or a_tool()).check({"word": word, **arguments}, {})


def a_call(checked: Checked | None = None) -> Call:
    """Return what an accepted call resolves to where no file exists and no preview binds."""
    checked = checked or a_checked()
    work = checked.tool.expand(checked.arguments)
    return Call(
        tool=checked.tool.name,
        arguments=dict(checked.arguments),  # type: ignore[arg-type]  # JSON, as `check` made sure
        definition=checked.tool.definition,
        risk=checked.tool.risk,
        steps=work.steps,
        verify=work.verify,
        lock=work.lock,
        fingerprints=tuple(Fingerprint(file=file, sha256=None) for file in work.fingerprints),
        preview=None,
    )


def a_plan(
    *calls: Checked,
    rules: str = sha256("the rules"),
    folder: str = "work",
    sandbox: str = "none",
) -> Plan:
    """Return the plan of these calls, of `a_checked()` where there are none."""
    return Plan(
        calls=tuple(a_call(checked) for checked in calls or (a_checked(),)),
        folder=folder,
        sandbox=sandbox,
        rules=rules,
    )


def a_rule(
    quorum: int = 1,
    requester_may_vote: bool = False,  # noqa: FBT001, FBT002 - a builder reads well either way
    expires: timedelta = timedelta(hours=1),
    *,
    name: str = "medium",
    second_factor: bool = False,
) -> Rule:
    """Return a rule of the policy."""
    return Rule(
        name=name,
        quorum=quorum,
        requester_may_vote=requester_may_vote,
        expires=expires,
        second_factor=second_factor,
    )


def a_proposal(
    *calls: Checked,
    tenant: str = TENANT,
    conversation: str = CONVERSATION,
    turn: str = TURN,
    requester: str = "alice",
    about: AgentText | None = None,
    supersedes: str | None = None,
    expects: Plan | None = None,
    closing: Closing | None = None,
    edited_by: str | None = None,
) -> Proposal:
    """Return these calls as somebody proposes them."""
    return Proposal(
        tenant=tenant,
        conversation=conversation,
        turn=turn,
        requester=requester,
        calls=calls or (a_checked(),),
        about=about or AgentText(),
        supersedes=supersedes,
        expects=expects,
        closing=closing,
        edited_by=edited_by,
        editors=(edited_by,) if edited_by else (),
    )


def a_new_request(
    *calls: Checked,
    request: str | None = None,
    plan: Plan | None = None,
    rule: Rule | None = None,
    approvers: Sequence[str] = ("bob", "carol"),
    tenant: str = TENANT,
    conversation: str = CONVERSATION,
    turn: str = TURN,
    requester: str = "alice",
    about: AgentText | None = None,
    supersedes: str | None = None,
    closing: Closing | None = None,
    edited_by: str | None = None,
) -> NewRequest:
    """Return a request that is ready to be opened, with a new id unless one is given."""
    proposal = a_proposal(
        *calls,
        tenant=tenant,
        conversation=conversation,
        turn=turn,
        requester=requester,
        about=about,
        supersedes=supersedes,
        closing=closing,
        edited_by=edited_by,
    )
    frozen, decided = plan or a_plan(*proposal.calls), rule or a_rule()
    shown = Shown(
        requester=requester,
        checked=proposal.calls,
        about=proposal.about,
        rule=decided,
        approvers=tuple(approvers),
        previews=(),
    )
    return NewRequest(
        id=request or ids.request_id(),
        proposal=proposal,
        plan=frozen,
        rule=decided,
        card=lambda name, expires_at: card_for(frozen, shown, name, expires_at),
    )


def a_turn(
    turn: str = TURN,
    *,
    tenant: str = TENANT,
    conversation: str = CONVERSATION,
    principal: str = "alice",
) -> Turn:
    """Return a message that is being answered."""
    return Turn(
        id=turn,
        tenant=tenant,
        conversation=conversation,
        principal=principal,
        place=PLACE,
        wish=Words(text="append alpha"),
    )


def a_new_turn(
    turn: str = TURN,
    text: str = "append alpha",
    *,
    tenant: str = TENANT,
    conversation: str | None = None,
    opens: str = CONVERSATION,
    principal: str = "alice",
    place: Place = PLACE,
    deliveries: tuple[str, ...] = (),
    runner: str | None = None,
) -> NewTurn:
    """Return a message that comes in; it opens a conversation unless one is named."""
    return NewTurn(
        id=turn,
        tenant=tenant,
        principal=principal,
        place=place,
        conversation=conversation,
        opens=opens,
        wish=Words(text=text),
        deliveries=deliveries,
        runner=runner,
    )
