-- What holds back everything that would run in a tenant: a pause, which has no name, and windows of
-- sayso.yml while they last. The spend itself asks for a pause; windows are kept to be told of.
CREATE TABLE brake (
    tenant TEXT NOT NULL,
    name   TEXT NOT NULL,
    since  TEXT NOT NULL,
    until  TEXT,
    set_by TEXT NOT NULL,
    reason TEXT NOT NULL,
    spares TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

-- Denials in a conversation since somebody entitled last let it propose again.
ALTER TABLE conversation ADD COLUMN denials INTEGER NOT NULL DEFAULT 0;

-- Whom a note calls where it is posted.
CREATE TABLE called (
    conversation TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    principal    TEXT NOT NULL,
    PRIMARY KEY (conversation, seq, principal),
    FOREIGN KEY (conversation, seq) REFERENCES entry (conversation, seq)
) STRICT, WITHOUT ROWID;

-- Who was asked by somebody to decide a request: each is asked once.
CREATE TABLE handover (
    tenant    TEXT NOT NULL,
    request   TEXT NOT NULL REFERENCES request (id),
    principal TEXT NOT NULL,
    asked_by  TEXT NOT NULL,
    at        TEXT NOT NULL,
    PRIMARY KEY (request, principal)
) STRICT, WITHOUT ROWID;

-- When other groups were told that a request waits.
ALTER TABLE request ADD COLUMN escalated_at TEXT;
-- Who let it run without what its rule asks for, and why. Empty for every other one.
ALTER TABLE request ADD COLUMN broken_by TEXT;
ALTER TABLE request ADD COLUMN broken_why TEXT NOT NULL DEFAULT '';
