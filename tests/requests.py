"""Requests as plans hold them, and what sends them, for tests about what becomes of them."""

from collections.abc import Collection
from dataclasses import replace

from adapters.http_steps.runner import HttpRunner
from core import ids
from core.hosts import Allowed, each
from core.plans import HttpStep
from core.ports import Ended, Ending, ending_in_words
from core.redaction import Redactor
from tests.fakes.secrets import FakeSecrets
from tests.standins.service import Service


def request(url: str, method: str = "GET", seconds: float = 20, **given: object) -> HttpStep:
    """Return a step that asks for this; whatever else it holds is `given`."""
    made = HttpStep(
        method=method, url=url, headers=(), body=None, statuses=(200,), answers=(),
        timeout_ms=int(seconds * 1000), secrets=(),
    )  # fmt: skip
    return replace(made, **given)  # type: ignore[arg-type]  # fields of it


def sender(*private: str, public: Collection[str] = (), **secrets: str) -> HttpRunner:
    """Return what sends to these hosts alone, with these secrets."""
    redactor = Redactor.of([])
    return HttpRunner(
        allowed=Allowed(public=each(public), private=each(private)),
        secrets=FakeSecrets(now=secrets, redactor=redactor),
        redactor=redactor,
    )


async def sent(here: Service, what: HttpStep, **secrets: str) -> Ended:
    """Send it to a service that is listed."""
    return await sender(here.host, **secrets).run(what, step_id=step_id())


def step_id() -> str:
    """Return the id of no other step."""
    return ids.step_id(ids.run_id(), 0)


def told(ended: Ended) -> tuple[Ending, str]:
    """Return how a request ended, and in which words: never with the code of a command."""
    assert ended.exit_code is None
    return ended.ending, ending_in_words(ended)
