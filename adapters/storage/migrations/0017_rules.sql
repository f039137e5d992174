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

-- When other groups were told that a request waits.
ALTER TABLE request ADD COLUMN escalated_at TEXT;
-- Who let it run without what its rule asks for, and why. Empty for every other one.
ALTER TABLE request ADD COLUMN broken_by TEXT;
ALTER TABLE request ADD COLUMN broken_why TEXT NOT NULL DEFAULT '';
