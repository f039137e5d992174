"""What people are told while they link an account, each side alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from approvals import cards
from approvals.linking import LinkingAccounts, Mine, Offered
from core.cards import Button
from core.deliveries import TERMINAL, Chat, Text
from core.display import one_line
from core.errors import Invalid, Unavailable
from core.events import LinkWish, Place
from core.jobs import Hold
from core.links import Link, Linking, Links, LinkState
from core.platforms import Told
from core.principals import Identity

_WAITS = (
    "{} is asked now, where they wrote `link`. Until they confirm there as well, nothing counts."
)
NO = "Nothing was linked."
_NOTHING = "Nothing was linked, so nothing ends."
_NO_LINKS = "Nothing is linked to you."


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkingDesk:
    """Takes what somebody wants about links, and says what came of it."""

    accounts: LinkingAccounts

    async def take(self, wish: LinkWish) -> Told:
        """Do it; raise `Refused` in one sentence where it may not be."""
        who, accounts = wish.identity, self.accounts
        match wish.what:
            case "claim":
                return claimed(await accounts.claim(who, wish.given))
            case "show":
                return shown(await accounts.mine(who))
            case _:
                return Told(text=await self._done(wish.what, who, wish.given))

    async def _done(
        self, what: Literal["offer", "confirm", "refuse", "end"], who: Identity, given: str
    ) -> str:
        accounts = self.accounts
        match what:
            case "offer":
                return offered(await accounts.offer(who))
            case "confirm":
                return confirmed(await accounts.confirm(who, given))
            case "refuse":
                await accounts.refuse(who, given)
                return NO
            case "end":
                return unlinked(await accounts.unlink(who, given))
            case _:
                assert_never(what)


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """Handles the jobs of links: one side is told, alone, what the other did."""

    links: Links
    chats: Mapping[str, Chat]
    """By platform."""

    async def __call__(self, hold: Hold) -> None:
        """Ask the first side whether it is them, or tell the account whose it is now."""
        tenant, payload = hold.job.tenant, hold.job.payload
        name, state = str(payload["link"]), LinkState(str(payload["state"]))
        found = await self._found(tenant, name, state)
        if found is None:
            return
        to, message = found
        # At a terminal nobody is called; `links` shows it there.
        if to.platform == TERMINAL or to.platform not in self.chats:
            return
        hold.check()
        place = Place(platform=to.platform, workspace=to.workspace, channel=to.user)
        try:
            await self.chats[to.platform].post(
                place, message, key=hold.job.id, again=hold.job.was_begun
            )
        except Invalid as error:
            # Somebody will correct a token or a file.
            raise Unavailable(error.shown) from error

    async def _found(
        self, tenant: str, name: str, state: LinkState
    ) -> tuple[Identity, Text] | None:
        """Return who is to be told what; None where that is over, or came further since."""
        one = await self.links.get(tenant, name)
        if one is None or one.account is None or one.state is not state:
            return None
        return (one.rests_on, asking(one)) if state is LinkState.ASKED else (one.account, made(one))


def offered(one: Offered) -> str:
    """Return a code and what to do with it."""
    return (
        f"Until {cards.at(one.linking.expires_at)} write this, once, with the account that is to be "
        f"yours as well: /sayso link {one.code}\nOn Discord write it in a channel of the server; in a "
        f"shell it is: sayso link {one.code}\nYou are asked here before anything counts."
    )


def asking(one: Linking) -> Text:
    """Return the question to the first side, to be answered by them alone."""
    return Text(
        text=f"{account(one.account)} wants to act as you, {one.principal}, with all that you may do "
        f"here. Confirm only if you wrote the code there yourself.{_typed(one)}",
        buttons=_buttons(one),
        is_note=True,
    )


def made(one: Linking) -> Text:
    """Return what an account is told once it is somebody's."""
    text = f"They confirmed: here you act as {one.principal} now. `unlink` ends that at once."
    return Text(text=text, is_note=True)


def account(one: Identity | None) -> str:
    """Return an account in words, by its id: a name could be anybody's."""
    if one is None:
        return "Nobody"
    where = f" in {one_line(one.workspace, 64)}" if one.platform != TERMINAL else ""
    return f"The {one.platform.capitalize()} account {one_line(one.user, 64)}{where}"


def claimed(one: Linking) -> Told:
    """Return whom an account would act as, to be confirmed by it."""
    text = (
        f"You would act as {one.principal}. Confirm only if that is you: they are asked then, and "
        f"nothing counts before they confirm as well.{_typed(one)}"
    )
    return Told(text=text, buttons=_buttons(one))


def confirmed(one: Linking) -> str:
    """Return what a yes came to."""
    if one.state is LinkState.ASKED:
        return _WAITS.format(one.principal)
    return f"{account(one.account)} is yours now: it is you, {one.principal}, and one vote. `unlink` ends that."


def unlinked(links: Sequence[Link]) -> str:
    """Return which links ended."""
    return "\n".join(map(_ended, links)) or _NOTHING


def _ended(link: Link) -> str:
    return f"{account(link.account)} is not {link.principal} any more."


def shown(mine: Mine) -> Told:
    """Return what somebody has linked, and what is asked of them."""
    lines = [f"{account(link.account)} is linked to you, {mine.principal}." for link in mine.links]
    lines += [asking(one).text for one in mine.waiting]
    buttons = [button for one in mine.waiting for button in _buttons(one)]
    return Told(text="\n".join(lines) or _NO_LINKS, buttons=tuple(buttons))


def _typed(one: Linking) -> str:
    return f"\nOr write: link confirm {one.id} (or: link refuse {one.id})"


def _buttons(one: Linking) -> tuple[Button, ...]:
    return (
        Button(label="Confirm", verb="link_yes", request=one.id),
        Button(label="Refuse", verb="link_no", request=one.id),
    )
