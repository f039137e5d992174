"""People and rules, read from `sayso.yml` again whenever the file has changed."""

from pathlib import Path

from approvals.models import Rule
from approvals.policy import Authority, Escalation, Policy, PolicyRule
from bot import settings
from bot.agent_sections import ProfileSection
from bot.sections import PersonSection, RiskSection
from bot.settings import Settings
from core.deliveries import TERMINAL
from core.events import Place
from core.limits import Limits
from core.principals import Directory, Identity, Person
from core.profiles import DEFAULT, Profile, Profiles
from core.rates import Rate, RateRules

CONSOLE = (TERMINAL, "local")
"""Platform and workspace of everybody who types on this machine."""


CONSOLE_PLACE = Place(platform=CONSOLE[0], workspace=CONSOLE[1], channel="console")
"""The whole console is one place."""


class AuthorityFile:
    """Gives the authority of the file as it is now; raises `Invalid` where it cannot be read."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read: tuple[bytes, Authority] | None = None

    def __call__(self) -> Authority:
        """Return people and rules; parsed again only where the file's bytes are other ones."""
        try:
            content = self._file.read_bytes()
        except OSError:
            content = b""  # `settings.read` says what is wrong with it
        if self._read is None or self._read[0] != content or not content:
            self._read = (content, authority_of(settings.read(self._file)))
        return self._read[1]


def authority_of(configured: Settings) -> Authority:
    """Return what the settings say about people and rules."""
    return Authority(
        directory=_directory(configured),
        policy=_policy(configured),
        profiles=_profiles(configured),
        rates=_rates(configured),
        linking=configured.policy.linking,
    )


def _directory(configured: Settings) -> Directory:
    owned = {
        (platform, workspace): tenant
        for tenant, section in configured.tenants.items()
        for platform, workspaces in (("slack", section.slack), ("discord", section.discord))
        for workspace in workspaces
    }
    here = [name for name, section in configured.tenants.items() if section.console]
    return Directory(
        workspaces=owned | dict(zip([CONSOLE], here, strict=False)),
        people={name: _person(section) for name, section in configured.people.items()},
    )


def _person(section: PersonSection) -> Person:
    platforms = (("slack", section.slack), ("discord", section.discord))
    elsewhere = {
        Identity(platform=platform, workspace=pair.split(":")[0], user=pair.split(":")[1])
        for platform, pairs in platforms
        for pair in pairs
    }
    here = {Identity(platform=CONSOLE[0], workspace=CONSOLE[1], user=u) for u in section.console}
    return Person(identities=frozenset(elsewhere | here), groups=frozenset(section.groups))


def _policy(configured: Settings) -> Policy:
    return Policy(
        rules=tuple(
            PolicyRule(
                id=f"policy.rules.{number}",
                effect=line.effect,
                action=line.action,
                resource=line.resource,
                groups=frozenset(line.groups),
            )
            for number, line in enumerate(configured.policy.rules)
        ),
        risks={name: _rule(name, section) for name, section in configured.approvals.risks.items()},
        reminders={
            name: section.remind_at
            for name, section in configured.approvals.risks.items()
            if section.remind_at is not None
        },
        escalations={
            name: Escalation(part=section.escalate_at, groups=frozenset(section.escalate_to))
            for name, section in configured.approvals.risks.items()
            if section.escalate_to
        },
        windows=tuple(one.window for one in configured.approvals.freeze),
    )


def _profiles(configured: Settings) -> Profiles:
    sections = configured.profiles
    return Profiles(
        known={DEFAULT: Profile(name=DEFAULT)} | {n: _profile(n, s) for n, s in sections.items()},
        of_tenant={tenant: name for name, s in sections.items() for tenant in s.tenants},
        of_channel={f"channel:{c}": name for name, s in sections.items() for c in s.channels},
    )


def _profile(name: str, section: ProfileSection) -> Profile:
    usual = Limits()
    return Profile(
        name=name,
        tools=None if section.tools is None else frozenset(section.tools),
        limits=Limits(
            turns=section.max_turns or usual.turns,
            tool_calls=section.max_tool_calls or usual.tool_calls,
            tokens=section.max_tokens or usual.tokens,
            seconds=section.max_seconds or usual.seconds,
        ),
        network=section.network,
        choosers=frozenset(section.choose),
    )


def _rates(configured: Settings) -> RateRules:
    messages = configured.rates.messages
    return RateRules(
        messages=Rate(name="messages", most=messages.most, per=messages.per),
        tools=tuple(
            Rate(name=line.tool, most=line.most, per=line.per) for line in configured.rates.tools
        ),
    )


def _rule(name: str, section: RiskSection) -> Rule:
    return Rule(
        name=name,
        quorum=section.quorum,
        requester_may_vote=section.requester_may_vote,
        expires=section.expires,
        second_factor=section.second_factor,
    )
