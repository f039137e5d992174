"""What failed in PostgreSQL, for people, and whether it was only the connection."""

from typing import NoReturn

import asyncpg

from core.errors import Unavailable

LOST = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    OSError,
    TimeoutError,
)
"""The connection is gone: what was not committed is not there, and another connection may work."""

AGAIN = (*LOST, asyncpg.TransactionRollbackError)
"""So may work what the database undid because of others."""

FAILURES = (*AGAIN, asyncpg.PostgresError)

_SENTENCES: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    (
        (asyncpg.LockNotAvailableError, asyncpg.QueryCanceledError),
        "The database is busy with another process, so this was not written. Try again.",
    ),
    (
        (asyncpg.DiskFullError,),
        "The database could not be written: the disk is full or failing. What was to be written "
        "now was not. Make room, and look at `sayso requests` and `sayso runs` before you try again.",
    ),
    (
        (asyncpg.InsufficientPrivilegeError, asyncpg.ReadOnlySQLTransactionError),
        "The database does not let this be written. Check the rights of its user in `storage.url`.",
    ),
    (
        (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError),
        "The database does not let Sayso in. Check the user, the password and the name of the "
        "database in `storage.url`.",
    ),
    (
        (*AGAIN, asyncpg.TooManyConnectionsError),
        "The database does not answer. Check that it runs and that `storage.url` names it; then try "
        "again.",
    ),
)
_UNANSWERED = (
    "The database did not say whether this was written. Look at `sayso requests` and `sayso runs` "
    "before you try again."
)
_NOT_DONE = "The database could not do this, so it was not written. Look at its log."
_MISTAKES = (asyncpg.IntegrityConstraintViolationError, asyncpg.SyntaxOrAccessError)


def raise_unanswered(error: Exception) -> NoReturn:
    """Raise what says that a connection was lost which was to commit."""
    raise _unavailable(_UNANSWERED, error) from error


def raise_in_words(error: Exception) -> NoReturn:
    """Raise it for people: the error itself where it is a mistake of ours, or none of the database."""
    for kinds, sentence in _SENTENCES:
        if isinstance(error, kinds):
            raise _unavailable(sentence, error) from error
    if isinstance(error, _MISTAKES) or not isinstance(error, asyncpg.PostgresError):
        raise error
    raise _unavailable(_NOT_DONE, error) from error


def _unavailable(sentence: str, error: Exception) -> Unavailable:
    return Unavailable(sentence, error=str(error) or type(error).__name__)
