"""Runs the steps of runbooks that are HTTP requests: each is sent at most once, to listed hosts alone."""

import asyncio
import os
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

from aiohttp import (
    ClientConnectorCertificateError,
    ClientConnectorError,
    ClientError,
    ClientResponseError,
    ClientSSLError,
)

from adapters.http_steps.exchange import CutShortError, Exchange
from adapters.http_steps.reaching import Lookup, addresses_of, look_up
from adapters.sandbox.output import Masking, Output
from adapters.sandbox.whole import whole
from core import http_answers, http_headers, http_urls
from core.errors import Refused, SaysoError
from core.hosts import Allowed, Host
from core.plans import HttpStep
from core.ports import Ended, Ending, Hear, Secrets
from core.redaction import Redactor

_NOT_SENT = "nothing was sent"
_USUAL = {"User-Agent": "Sayso", "Accept": "*/*"}
"""What a request says unless its runbook does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRunner:
    """Sends a request to the very address that was looked up for it, and follows nobody elsewhere."""

    allowed: Allowed
    secrets: Secrets
    """What headers may end with."""
    redactor: Redactor
    lookup: Lookup = look_up
    tls: ssl.SSLContext | None = None
    """Whom to believe that they are who they say; None for whom this machine believes."""

    def obstacle(self, step: HttpStep) -> str | None:
        """Say what would keep this step from starting, in a sentence; None where nothing would.

        No name is looked up for it: that alone would tell somebody outside.
        """
        sentence = next(self._obstacles(step), None)
        return sentence and self.redactor.text(sentence)

    async def run(self, step: HttpStep, *, step_id: str, hear: Hear | None = None) -> Ended:
        """See the port. Cancelling this closes the connection."""
        if sentence := self.obstacle(step):
            return _not_sent(sentence)
        try:
            headers = _headers(step, await self.secrets.values(step.secrets), step_id)
        except SaysoError as error:
            return _not_sent(error.shown)
        masking = Masking(redactor=self.redactor)
        output = Output(spare=masking.spare(), more=lambda: hear(tail) if hear else None)
        tail = partial(masking.tail, output)
        exchange = Exchange(
            method=step.method,
            url=step.url,
            headers=headers,
            body=None if step.body is None else step.body.encode(),
            tls=self.tls,
            output=output,
        )
        cut = await self._cut(exchange, step)
        if not exchange.connected:
            return _not_sent(self.redactor.text(cut[1]) if cut else "")
        ending, note = await self._judged(exchange, step, cut)
        return Ended(
            ending=ending,
            exit_code=None,
            output=masking.without_stump(output.shown(masking.clean)),
            whole=partial(whole, output.everything, masking) if output.is_cut else None,
            note=self.redactor.text(note),
        )

    def _obstacles(self, step: HttpStep) -> Iterator[str]:
        try:
            scheme, host = http_urls.host_of(step.url)
        except ValueError:
            yield "The address of the request is none that anything can be sent to."
            return
        if sentence := self.allowed.obstacle(host):
            yield sentence
        if step.secrets and scheme == "http" and host not in self.allowed.private:
            yield f"It would send a secret to {host} for anybody on the way to read. Use https."
        yield from filter(None, map(self.secrets.fault, step.secrets))

    async def _cut(self, exchange: Exchange, step: HttpStep) -> tuple[Ending, str] | None:
        """Send the request; return what kept it from its end, None where nothing did."""
        _, host = http_urls.host_of(step.url)
        try:
            async with asyncio.timeout(step.timeout_ms / 1000):
                await exchange.perform(await addresses_of(host, self.allowed, self.lookup))
        except SaysoError as error:
            return Ending.NOT_STARTED, error.shown
        except (ClientError, OSError) as error:
            if not exchange.connected:
                return Ending.NOT_STARTED, _unconnected(host, error)
            return _interrupted(error)
        except CutShortError as error:
            return error.ending, error.why
        return None

    async def _judged(
        self, exchange: Exchange, step: HttpStep, cut: tuple[Ending, str] | None
    ) -> tuple[Ending, str]:
        """Say what an exchange comes to. A status that is not expected is an answer, whatever follows it."""
        if exchange.status is None:
            return cut or (Ending.BROKEN_OFF, "")
        fault = http_answers.status_fault(step, exchange.status)
        if fault is None and cut:
            ending, why = cut
            return ending, f"status {exchange.status}, then {why}"
        told = f"status {exchange.status}"
        if fault is None and step.answers:
            # In a thread: a million bytes of JSON would hold everything else up.
            content = bytes(exchange.content)
            fault = await asyncio.to_thread(http_answers.fault, step, content, self.redactor)
            fault = fault and f"{told}, but {fault}"
        if fault:
            return Ending.ANSWERED_OTHERWISE, fault
        return Ending.ANSWERED, told if exchange.is_readable else f"{told}, packed and not read"


def _headers(step: HttpStep, values: Mapping[str, str], step_id: str) -> Mapping[str, str]:
    own = {header.name.lower() for header in step.headers}
    headers = {name: text for name, text in _USUAL.items() if name.lower() not in own}
    for header in step.headers:
        secret = values[header.secret] if header.secret else ""
        if secret and not http_headers.is_value(secret):
            raise Refused(
                f"The secret {header.secret} holds characters that no header can. Correct it."
            )
        headers[header.name] = f"{header.text}{secret}"
    return {
        **headers,
        "Accept-Encoding": "identity",
        "Idempotency-Key": quote(step_id, safe=""),
    }


def _unconnected(host: Host, error: Exception) -> str:
    match error:
        case ClientConnectorCertificateError():
            why = "it could not prove who it is"
        case ClientSSLError():
            why = "it speaks no TLS that can be trusted"
        case TimeoutError():
            why = "it did not answer in time"
        case ClientConnectorError(os_error=OSError(errno=int(number))):
            why = os.strerror(number).lower()
        case _:
            why = "it cannot be reached"
    return f"No connection to {host} came about, so nothing was sent: {why}."


def _interrupted(error: Exception) -> tuple[Ending, str]:
    match error:
        case TimeoutError():
            return Ending.TIMED_OUT, "its time was over"
        case ClientResponseError():
            return Ending.BROKEN_OFF, "what came back is no answer in HTTP"
        case _:
            return Ending.BROKEN_OFF, "the connection ended before an answer came"


def _not_sent(sentence: str) -> Ended:
    return Ended(ending=Ending.NOT_STARTED, exit_code=None, output=sentence, note=_NOT_SENT)
