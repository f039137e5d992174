"""The gate on real stores, with all around it that a test may change between the card and the click."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from adapters.counted import CountedRunner
from adapters.storage.brakes import Brakes
from adapters.storage.factors import Factors
from adapters.storage.rates import Rates
from approvals import cards
from approvals.acting import Acting
from approvals.editing import Editing
from approvals.freeze import Freezer
from approvals.gate import Gate
from approvals.models import Request, Rule, Run, Spent
from approvals.policy import Authority, Escalation, Policy, PolicyRule
from approvals.proposals import Proposal
from approvals.standings import Standings
from approvals.switches import Switches
from approvals.undoing import Undoing
from approvals.windows import Window
from core.audit import Entry
from core.errors import Refused
from core.events import Approve, AskAgain, Deny, Edit
from core.guardrails import Guards
from core.limits import Limits
from core.principals import Directory, Identity, Person
from core.profiles import DEFAULT, Profile, Profiles
from core.rates import Rate, RateRules
from core.redaction import Redactor
from core.roster import Roster
from core.tools import Tool, Toolbox
from tests.builders import TENANT, a_proposal, a_step, a_tool
from tests.fakes.files import FakeFiles
from tests.fakes.keys import FakeKeys
from tests.fakes.runner import FakeRunner
from tests.fakes.sources import FakeSources
from tests.stores import KEYS, OTHER_TENANT, Stores, everything, holding, log_of, now

HOUR = timedelta(hours=1)
SECRET = "hunter2hunter2"
APPEND = a_tool(
    fingerprints=("words.txt",), preview=a_step("preview"), preview_binds=True, verify=True
)
LOW = a_tool("note", risk="low")
HIGH = a_tool("wipe", risk="high", steps=2)
TOOLS = (APPEND, LOW, HIGH)
RISKS = (
    Rule(name="low", quorum=1, requester_may_vote=True, expires=HOUR),
    Rule(name="medium", quorum=1, requester_may_vote=False, expires=HOUR),
    Rule(name="high", quorum=2, requester_may_vote=False, expires=HOUR),
)
BOB_ON_SLACK = Identity(platform="slack", workspace="T1", user="U2")
EVE = Identity(platform="console", workspace="theirs", user="bob")
"""Another tenant's bob: the same account name, another person."""


PLENTY = RateRules(messages=Rate(name="messages", most=1_000_000, per=HOUR))


def allow(action: str, group: str, resource: str = "runbook:*") -> PolicyRule:
    """Return a line of the policy, named after what it allows to whom."""
    return PolicyRule(
        id=f"{action} {group}",
        effect="allow",
        action=action,
        resource=resource,
        groups=frozenset({group}),
    )


def who(name: str) -> Identity:
    """Return somebody's account on the console of the tenant."""
    return Identity(platform="console", workspace="local", user=name)


@dataclass
class World:
    """A gate and what it looks at. Whatever is assigned here is what the gate sees next."""

    stores: Stores
    runner: FakeRunner = field(default_factory=FakeRunner)
    files: FakeFiles = field(default_factory=lambda: FakeFiles(digests={"words.txt": "0" * 64}))
    sources: FakeSources = field(default_factory=FakeSources)
    groups: dict[str, set[str]] = field(
        default_factory=lambda: {
            "alice": {"dev", "ops"},
            "bob": {"ops"},
            "carol": {"ops"},
            "dave": {"guests"},
            "eve": {"ops"},
        }
    )
    rules: tuple[PolicyRule, ...] = (
        allow("run:propose", "dev"),
        allow("plan:approve", "ops"),
        allow("plan:deny", "ops"),
        allow("plan:edit", "editors"),
        allow("run:stop", "stoppers"),
    )
    risks: tuple[Rule, ...] = RISKS
    reminders: dict[str, float] = field(default_factory=dict[str, float])
    windows: tuple[Window, ...] = ()
    escalations: dict[str, Escalation] = field(default_factory=dict[str, Escalation])
    profiles: Profiles = field(default_factory=Profiles)
    rates: RateRules = PLENTY
    tools: tuple[Tool, ...] = TOOLS
    switches: Switches = field(default_factory=Switches)
    folder: str = "work"
    on_slack: dict[str, Identity] = field(default_factory=lambda: {"bob": BOB_ON_SLACK})
    on_discord: dict[str, Identity] = field(default_factory=dict[str, Identity])
    rosters: dict[str, Roster] = field(default_factory=dict[str, Roster])
    linking: bool = False
    """Whether accounts may be linked."""
    unreadable: Exception | None = None
    """What reading people and rules raises, where it does."""
    keys: FakeKeys = field(default_factory=lambda: KEYS)
    """What second factors are encrypted with."""
    counted: CountedRunner = field(init=False)

    def __post_init__(self) -> None:
        self.counted = CountedRunner(self.runner)

    @property
    def gate(self) -> Gate:
        """Return the gate as it is configured now."""
        return Gate(
            store=self.stores.requests,
            freezer=Freezer(
                runner=self.counted, files=self.files, sources=self.sources, folder=self.folder
            ),
            acting=Acting(
                store=self.stores.requests,
                authority=self.authority,
                rates=Rates(self.stores.database),
                standings=Standings(rosters=self.rosters, links=self.stores.links),
            ),
            factors=self.factors,
            toolbox=lambda: Toolbox.of(self.tools),
            switches=replace(self.switches, brakes=Brakes(self.stores.database)),
            redactor=Redactor.of([SECRET]),
            grants=self.stores.grants,
        )

    @property
    def undoing(self) -> Undoing:
        """Return what finds out what undoes a run."""
        return Undoing(
            gate=self.gate, runs=self.stores.runs, toolbox=lambda: Toolbox.of(self.tools)
        )

    @property
    def factors(self) -> Factors:
        """Return the second factors."""
        return Factors(self.stores.database, self.keys)

    def authority(self) -> Authority:
        """Read people and rules."""
        if self.unreadable:
            raise self.unreadable
        people = {
            name: Person(
                identities=frozenset(
                    {EVE} if name == "eve" else {who(name), *self._elsewhere(name)}
                ),
                groups=frozenset(groups),
            )
            for name, groups in self.groups.items()
        }
        workspaces = {
            ("console", "local"): TENANT,
            ("slack", "T1"): TENANT,
            ("discord", "G1"): TENANT,
            ("console", "theirs"): OTHER_TENANT,
        }
        return Authority(
            directory=Directory(workspaces=workspaces, people=people),
            policy=Policy(
                rules=self.rules,
                risks={rule.name: rule for rule in self.risks},
                reminders=self.reminders,
                windows=self.windows,
                escalations=self.escalations,
            ),
            profiles=self.profiles,
            rates=self.rates,
            linking=self.linking,
        )

    def _elsewhere(self, name: str) -> list[Identity]:
        return [on[name] for on in (self.on_slack, self.on_discord) if name in on]

    def within(self, limits: Limits) -> None:
        """Give each turn of whoever chose no profile these limits."""
        self.profiles = Profiles(known={DEFAULT: Profile(name=DEFAULT, limits=limits)})

    def edit(self, name: str, change: Callable[[Tool], Tool]) -> None:
        """Change one tool of the catalogue."""
        self.tools = tuple(change(tool) if tool.name == name else tool for tool in self.tools)

    async def propose(
        self, tool: Tool = APPEND, word: str = "alpha", *, turn: str = "t_1"
    ) -> Request:
        """Have alice ask for one call."""
        return await self.ask(a_proposal(tool.check({"word": word}, {}), turn=turn))

    async def ask(self, proposal: Proposal) -> Request:
        """Propose this."""
        return await self.gate.propose(proposal)

    async def granted(self, tool: Tool = APPEND, *voters: str) -> Request:
        """Return a request that these people agreed to through the gate."""
        request = await self.propose(tool)
        for voter in voters or ("bob",):
            request = await self.approve(voter, request)
        return request

    async def approve(
        self, person: str | Identity, request: Request | str, code: str = ""
    ) -> Request:
        """Have somebody press Approve, with a code where they give one."""
        click = Approve(identity=_identity(person), request=_id(request), code=code)
        return (await self.gate.approve(click)).request

    async def deny(
        self, person: str | Identity, request: Request | str, reason: str = ""
    ) -> Request:
        """Have somebody press Deny."""
        click = Deny(identity=_identity(person), request=_id(request), reason=reason)
        return await self.gate.deny(click)

    async def edited(
        self,
        person: str | Identity,
        request: Request | str,
        *,
        call: int | None = None,
        guards: Guards | None = None,
        **values: str | None,
    ) -> Request:
        """Have somebody give arguments other values."""
        event = Edit(
            identity=_identity(person), request=_id(request), values=(*values.items(),), call=call
        )
        return await Editing(gate=self.gate, guards=guards or Guards()).edit(event)

    async def again(self, person: str | Identity, request: Request | str) -> Request:
        """Have somebody press Ask again."""
        return await self.gate.again(AskAgain(identity=_identity(person), request=_id(request)))

    async def spend(self, request: Request) -> Spent:
        """Spend a request as whoever claimed its job does; raise what people are told if it is too late."""
        async with holding(self.stores, request) as job:
            spent = await self.gate.spend(request, job)
        if spent is None:
            raise Refused(cards.too_late(await self.now(request)))
        return spent

    async def now(self, request: Request) -> Request:
        """Return a request as it is now."""
        return await now(self.stores, request)

    async def requests(self) -> list[Request]:
        """Return every request that there is."""
        return await self.stores.records.requests()

    async def runs(self) -> list[Run]:
        """Return every run that there is."""
        return await self.stores.records.runs()

    async def attempts(self) -> list[Entry]:
        """Return the audit entries of what was tried and refused."""
        return [e for e in await log_of(self.stores) if e.kind == "attempt.refused"]

    async def all_but_the_log(self) -> dict[str, list[object]]:
        """Return all rows of all tables that say what is, not what was tried."""
        found = await everything(self.stores.database)
        tried = {"audit", "rate"}
        return {table: list(rows) for table, rows in found.items() if table not in tried}

    def effects(self) -> list[tuple[str, ...]]:
        """Return the commands that ran, dry runs left out."""
        return [argv for argv in self.runner.ran if argv != ("preview",)]


def without(rules: Iterable[PolicyRule], name: str) -> tuple[PolicyRule, ...]:
    """Return the rules without the one of that id."""
    return tuple(rule for rule in rules if rule.id != name)


def edited(tool: Tool) -> Tool:
    """Return the tool as it is after somebody touched its file."""
    return replace(tool, definition="e" * 64)


def _identity(person: str | Identity) -> Identity:
    return who(person) if isinstance(person, str) else person


def _id(request: Request | str) -> str:
    return request if isinstance(request, str) else request.id
