"""Whole numbers in a configuration. YAML reads `yes` as true, and Python takes true for 1."""

from typing import Annotated

from pydantic import BeforeValidator


def no_boolean(value: object) -> object:
    """Return what is no boolean; raise `ValueError` for one."""
    if isinstance(value, bool):
        raise ValueError("write a number")  # noqa: TRY004 - pydantic wants a ValueError
    return value


Count = Annotated[int, BeforeValidator(no_boolean)]
