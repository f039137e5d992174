-- Of what one process alone may do, which one does it, and until when unless it says so again.
CREATE TABLE lease (
    name TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    until TEXT NOT NULL
) STRICT;
