-- When what was said and done in a conversation was removed; NULL where it was not.
ALTER TABLE conversation ADD COLUMN erased_at TEXT;
CREATE INDEX request_of_plan ON request (tenant, plan);

-- What was kept of a conversation for later turns of it. `source` says where it came from: a turn
-- and a call, or a person.
CREATE TABLE memory (
    id           TEXT PRIMARY KEY,
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    seq          INTEGER NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('semantic', 'procedural')),
    trust        TEXT NOT NULL CHECK (trust IN ('person', 'model', 'software')),
    source       TEXT NOT NULL,
    text         TEXT NOT NULL,
    sha256       TEXT NOT NULL,
    at           TEXT NOT NULL,
    expires_at   TEXT NOT NULL,
    UNIQUE (conversation, seq)
) STRICT;
CREATE INDEX memory_due ON memory (expires_at);
