-- Standing grants. What one allows, and to whom, stands in the plan of the request that made it.
CREATE TABLE standing_grant (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    -- The request by which people allow it; while that is open, so is this.
    request TEXT NOT NULL UNIQUE REFERENCES request (id),
    requester TEXT NOT NULL,
    proposer TEXT NOT NULL,
    place TEXT NOT NULL,
    plan_sha256 TEXT NOT NULL,
    most INTEGER NOT NULL CHECK (most > 0),
    used INTEGER NOT NULL CHECK (used BETWEEN 0 AND most),
    lasts_ms INTEGER NOT NULL CHECK (lasts_ms > 0),
    until TEXT,
    state TEXT NOT NULL CHECK (state IN
        ('proposed', 'active', 'suspended', 'expired', 'used_up', 'revoked')),
    proposed_at TEXT NOT NULL,
    ended_at TEXT,
    ended_by TEXT,
    reason TEXT NOT NULL
) STRICT;
CREATE INDEX standing_grant_active ON standing_grant (tenant, requester) WHERE state = 'active';

-- The grant under which a request came to be granted; of all others nobody needed to be asked.
ALTER TABLE request ADD COLUMN under TEXT REFERENCES standing_grant (id);
CREATE INDEX request_under ON request (under) WHERE under IS NOT NULL;

-- Each use of a grant has a number of its own, and is one run.
CREATE TABLE grant_use (
    standing_grant TEXT NOT NULL REFERENCES standing_grant (id),
    number INTEGER NOT NULL CHECK (number > 0),
    tenant TEXT NOT NULL,
    request TEXT NOT NULL UNIQUE REFERENCES request (id),
    PRIMARY KEY (standing_grant, number)
) STRICT, WITHOUT ROWID;
