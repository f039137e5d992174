"""Who types: the account that this process runs as."""

import os
import pwd


def account() -> str:
    """Return its name: by the uid, never by the environment."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid-{os.getuid()}"
