"""What failed in PostgreSQL, for people, and whether it was only the connection."""

import asyncpg

from core.errors import Unavailable

LOST = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    OSError,
    TimeoutError,
)
"""The connection is gone: what was not committed is not there, and another connection may work."""

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
        (*LOST, asyncpg.TooManyConnectionsError),
        "The database does not answer. Check that it runs and that `storage.url` names it; then try "
        "again.",
    ),
)
_MISTAKES = (asyncpg.IntegrityConstraintViolationError, asyncpg.SyntaxOrAccessError)


def in_words(error: Exception) -> Exception:
    """Return what to raise instead: the error itself where it is a mistake of ours."""
    for kinds, sentence in _SENTENCES:
        if isinstance(error, kinds):
            return Unavailable(sentence, error=str(error) or type(error).__name__)
    if isinstance(error, _MISTAKES) or not isinstance(error, asyncpg.PostgresError):
        return error
    return Unavailable(
        "The database could not do this, so it was not written. Look at its log.", error=str(error)
    )
