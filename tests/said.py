"""Whatever Sayso may say, for tests that draw it on any platform."""

from datetime import UTC

from hypothesis import strategies as st

from core.cards import Button, Card, Fact, Verb
from core.deliveries import Asking, Message, Opening, Progress, Text
from core.principals import Identity

VERBS: tuple[Verb, ...] = (
    "approve",
    "deny",
    "review",
    "again",
    "verify",
    "happened",
    "did_not",
    "stop",
)
words = st.text(max_size=200) | st.text(alphabet="ab<&>`*_~ \n\u202e😀", max_size=400)


def _repeated(text: str, times: int) -> str:
    return text * times


long = words | st.builds(
    _repeated,
    st.text(alphabet="ab<&>`*_~[]()|-#1. \n\t\u200b😀漢", min_size=1, max_size=30),
    st.sampled_from([1, 3, 30, 300, 900]),
)
lines = st.lists(long, max_size=4).map(tuple)
buttons = st.lists(
    st.builds(Button, label=words, verb=st.sampled_from(VERBS), request=st.just("a" * 32)),
    max_size=40,
).map(tuple)


def askings(people: st.SearchStrategy[tuple[Identity, ...]]) -> st.SearchStrategy[Asking]:
    """Return cards that may be approved by some of these people."""
    return st.builds(
        Asking,
        card=st.builds(
            Card,
            title=long,
            plan=lines,
            facts=st.lists(st.builds(Fact, label=words, text=long), max_size=12).map(tuple),
            warnings=lines,
            estimate=long,
            preview=lines,
            unchecked=lines,
            buttons=buttons,
        ),
        status=long,
        wanted=people,
    )


def messages(
    people: st.SearchStrategy[tuple[Identity, ...]], turn: str
) -> st.SearchStrategy[Message]:
    """Return everything that may be posted."""
    return (
        askings(people)
        | st.builds(
            Text,
            text=long,
            suggestions=st.lists(long, max_size=30).map(tuple),
            turn=st.none() | st.just(turn),
            buttons=buttons,
            is_report=st.booleans(),
            is_note=st.booleans(),
            wanted=people,
        )
        | st.builds(
            Progress,
            run=st.just("r_1"),
            title=long,
            status=long,
            began_at=st.datetimes().map(lambda at: at.replace(tzinfo=UTC)),
            bar=long,
            tail=lines,
            buttons=buttons,
        )
        | st.builds(
            Opening,
            author=long,
            text=long,
            asker=people.map(lambda some: some[0] if some else None),
        )
    )
