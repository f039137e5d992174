"""How an HTTP request is written in a runbook, and what has to come back. Pure."""

from collections.abc import Iterator
from typing import Annotated, cast

from pydantic import (
    BeforeValidator,
    Field,
    JsonValue,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from core import http_headers, http_urls, placeholders, pointers
from core.canonical import JsonObject, encode
from core.durations import milliseconds
from core.params import Part
from core.plans import Answer, Header, HttpStep
from core.step_forms import Form

METHODS = ("get", "post", "put", "patch", "delete", "head")
_BODILESS = ("get", "head")
_ANY_STATUS = {"type": "integer", "minimum": 200, "maximum": 599}
_STATUSES = {"anyOf": [_ANY_STATUS, {"type": "array", "items": _ANY_STATUS, "minItems": 1}]}
_EXPECTED = {
    "anyOf": [
        *_STATUSES["anyOf"],
        {
            "type": "object",
            "properties": {"status": _STATUSES, "json": {"type": "object"}},
            "additionalProperties": False,
        },
    ]
}
_TYPES = {"json": "application/json", "body": "text/plain; charset=utf-8"}


def _several(value: object) -> object:
    return [value] if isinstance(value, int) else value


def _whole(value: object) -> object:
    if isinstance(value, int | list):
        return {"status": cast("object", value)}
    return value


Status = Annotated[int, Field(ge=200, le=599)]
Statuses = Annotated[
    tuple[Status, ...],
    Field(strict=False, min_length=1, max_length=20),
    BeforeValidator(_several),
    WithJsonSchema(_STATUSES),
]
Url = Annotated[str, Field(json_schema_extra={"pattern": "^https?://[^/?#@{}]+(/[^#]*)?$"})]


class Expected(Part):
    """What has to come back."""

    status: Statuses = (200,)
    """One of these; any other is a failure."""
    holds: dict[str, JsonValue] = Field(default_factory=dict, alias="json")
    """What the JSON that comes back has to hold, each by its JSON Pointer, such as /status."""

    @field_validator("holds")
    @classmethod
    def _are_pointers(cls, holds: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for text in holds:
            pointers.parse(text)
        return holds


class Sent(Part):
    """What is sent, and what has to come back. A placeholder stays inside its part of the address."""

    get: Url | None = None
    """The address of a GET, as `http://HOST:PORT/PATH`."""
    post: Url | None = None
    """The address of a POST."""
    put: Url | None = None
    """The address of a PUT."""
    patch: Url | None = None
    """The address of a PATCH."""
    delete: Url | None = None
    """The address of a DELETE."""
    head: Url | None = None
    """The address of a HEAD."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Their texts; a secret of the step may stand at the end of one, as in `Bearer {API_TOKEN}`."""
    content: JsonValue = Field(None, alias="json")
    """What is sent as JSON. A text that is one placeholder becomes a value of its parameter's type."""
    body: str | None = None
    """What is sent as it is, instead of JSON."""
    expect: Annotated[Expected, BeforeValidator(_whole), WithJsonSchema(_EXPECTED)] = Expected()
    """The status that has to come back, several of them, or `status` and `json`."""

    @field_validator(*METHODS)
    @classmethod
    def _are_sound(cls, url: str | None) -> str | None:
        if url is not None:
            http_urls.must_be_sound(url)
        return url

    @model_validator(mode="after")
    def _is_one_request(self) -> "Sent":
        given = [name for name in METHODS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"write one of {', '.join(METHODS)}, with the address")
        if len(self._bodies) > 1:
            raise ValueError("it has `json` and `body`, and may have one of them")
        if self._bodies and given[0] in _BODILESS:
            raise ValueError(f"a {given[0]} sends no `{self._bodies[0]}`; leave it out")
        if self.expect.holds and given == ["head"]:
            raise ValueError("a head brings no JSON; leave it out of `expect`")
        for text in (self.url, *self._texts_sent()):
            if any(name.isupper() for name in placeholders.names(text)):
                raise ValueError("a secret may stand at the end of a header's text alone")
        return self

    @property
    def method(self) -> str:
        """Return the name of the method, in lowercase."""
        return next(name for name in METHODS if getattr(self, name) is not None)

    @property
    def url(self) -> str:
        """Return the address, with its placeholders."""
        url: str = getattr(self, self.method)
        return url

    @property
    def _bodies(self) -> list[str]:
        # That `json` is there counts, not what it is: null is JSON too.
        given = {"json": "content" in self.model_fields_set, "body": self.body is not None}
        return [name for name, is_there in given.items() if is_there]

    def texts(self) -> Iterator[str]:
        """Yield every text in which a placeholder may stand."""
        yield self.url
        yield from self._texts_sent()
        yield from placeholders.texts_in(self.expect.holds)

    def _texts_sent(self) -> Iterator[str]:
        yield from (http_headers.split(text)[0] for text in self.headers.values())
        yield from placeholders.texts_in(self.content)
        yield self.body or ""

    def filled_headers(self, arguments: JsonObject) -> tuple[Header, ...]:
        """Return the headers as they will be sent, with the type of what is sent."""
        own = [http_headers.fill(name, text, arguments) for name, text in self.headers.items()]
        if self._bodies and not any(one.name.lower() == "content-type" for one in own):
            own.insert(0, Header(name="Content-Type", text=_TYPES[self._bodies[0]]))
        return tuple(own)

    def filled_body(self, arguments: JsonObject) -> str | None:
        """Return what will be sent; None where nothing is."""
        if self.body is not None:
            return placeholders.fill(self.body, arguments)
        if not self._bodies:
            return None
        return encode(placeholders.fill_value(self.content, arguments))


class Request(Form):
    """One HTTP request."""

    http: Sent
    """What is sent, and what has to come back."""

    @field_validator("http")
    @classmethod
    def _may_see_its_secrets(cls, http: Sent, info: ValidationInfo) -> Sent:
        http_headers.must_be_sound(http.headers, info.data.get("secrets", ()))
        return http

    def texts(self) -> Iterator[str]:
        """Yield every text in which a placeholder may stand."""
        return self.http.texts()

    def fill(self, arguments: JsonObject) -> HttpStep:
        """Return the request as it will be sent; raise `Incorrect` where a value does not fit in."""
        expected = self.http.expect
        answers = [
            Answer(path=path, equals=placeholders.fill_value(value, arguments))  # type: ignore[arg-type]  # JSON of another name
            for path, value in expected.holds.items()
        ]
        return HttpStep(
            method=self.http.method.upper(),
            url=http_urls.fill(self.http.url, arguments),
            headers=self.http.filled_headers(arguments),
            body=self.http.filled_body(arguments),
            statuses=expected.status,
            answers=tuple(answers),
            timeout_ms=milliseconds(self.timeout),
            secrets=self.secrets,
            retry=self.retry.fill() if self.retry else None,
            on_failure=self.on_failure,
        )
