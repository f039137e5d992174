CREATE TABLE job (
    seq           INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    kind          TEXT NOT NULL,
    tenant        TEXT NOT NULL,
    payload       TEXT NOT NULL,
    replay        TEXT NOT NULL CHECK (replay IN ('safe', 'never')),
    lane          TEXT,
    dedupe        TEXT UNIQUE,
    state         TEXT NOT NULL CHECK (state IN
        ('queued', 'running', 'done', 'failed', 'cancelled', 'unknown')),
    run_at        TEXT NOT NULL,
    attempt       INTEGER NOT NULL,
    -- How often it was put back because something outside did not answer.
    tries         INTEGER NOT NULL DEFAULT 0,
    fence         INTEGER NOT NULL,
    owner         TEXT,
    lease_until   TEXT,
    cancel_at     TEXT,
    submitted_at  TEXT NOT NULL,
    ended_at      TEXT
) STRICT;

-- One running job a lane: the database itself holds this, whatever a claim does.
CREATE UNIQUE INDEX job_one_per_lane ON job (lane) WHERE state = 'running';
CREATE INDEX job_ready ON job (seq, run_at) WHERE state = 'queued';
CREATE INDEX job_in_lane ON job (lane, seq) WHERE state = 'queued';
CREATE INDEX job_leased ON job (lease_until) WHERE state = 'running';
