-- Times are UTC text of one width (2026-11-29T21:52:59.123456Z), so they sort as text.
-- Every table that a tenant's people can reach carries the tenant.

CREATE TABLE conversation (
    id        TEXT PRIMARY KEY,
    tenant    TEXT NOT NULL,
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel   TEXT NOT NULL,
    thread    TEXT,
    -- What the agent may use here; chosen when the conversation began, and kept.
    profile   TEXT NOT NULL DEFAULT 'default',
    opened_at TEXT NOT NULL,
    -- Grows whenever what was read of its transcript is no longer how it begins.
    epoch     INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One thread is one conversation. Nothing is posted where there is no thread.
CREATE UNIQUE INDEX conversation_of ON conversation (tenant, platform, workspace, channel, thread)
    WHERE thread IS NOT NULL;

-- A message that came in, and what came of it: a turn is queued with it, in one transaction.
CREATE TABLE turn (
    id           TEXT PRIMARY KEY,
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    principal    TEXT NOT NULL,
    wish         TEXT NOT NULL,
    schedule     TEXT,
    received_at  TEXT NOT NULL,
    ended_at     TEXT,
    reason       TEXT,
    text         TEXT NOT NULL DEFAULT '',
    suggestions  TEXT NOT NULL DEFAULT '[]',
    request      TEXT,
    killed       INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX turn_scheduled ON turn (tenant, schedule, received_at) WHERE schedule IS NOT NULL;
CREATE INDEX turn_live ON turn (tenant, conversation) WHERE ended_at IS NULL;

-- Every id under which a platform may deliver a message again.
CREATE TABLE received (
    tenant    TEXT NOT NULL,
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    delivery  TEXT NOT NULL,
    turn      TEXT NOT NULL REFERENCES turn (id),
    PRIMARY KEY (tenant, platform, workspace, delivery)
) STRICT;

-- What was said in a conversation, in order; appended to, and changed by nothing but erasing.
CREATE TABLE entry (
    conversation TEXT NOT NULL REFERENCES conversation (id),
    seq          INTEGER NOT NULL,
    at           TEXT NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('asked', 'answered', 'card', 'progress', 'report', 'note')),
    author       TEXT NOT NULL,
    text         TEXT NOT NULL,
    about        TEXT,
    PRIMARY KEY (conversation, seq)
) STRICT;
CREATE INDEX entry_card ON entry (about) WHERE kind = 'card';
CREATE INDEX entry_progress ON entry (about) WHERE kind = 'progress';
CREATE INDEX entry_news ON entry (conversation, seq) WHERE kind IN ('report', 'note');

-- Which entries were posted to the thread, and as which message of the platform.
CREATE TABLE posted (
    conversation TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    message      TEXT NOT NULL,
    PRIMARY KEY (conversation, seq),
    FOREIGN KEY (conversation, seq) REFERENCES entry (conversation, seq)
) STRICT;

-- What a model is sent again each turn, byte for byte: appended to, and changed by nothing but
-- erasing. It is sent what stands from the newest compaction on.
CREATE TABLE transcript (
    conversation TEXT NOT NULL REFERENCES conversation (id),
    seq          INTEGER NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('heard', 'called', 'returned', 'spoke', 'noted',
        'stated', 'compacted')),
    body         TEXT NOT NULL,
    entry        INTEGER,
    PRIMARY KEY (conversation, seq)
) STRICT;
CREATE INDEX transcript_told ON transcript (conversation, entry) WHERE entry IS NOT NULL;
CREATE INDEX transcript_begins ON transcript (conversation, seq) WHERE kind = 'compacted';

-- A process remembers what it read, for one epoch. Nothing that ends one can forget to say so.
CREATE TRIGGER transcript_compacted AFTER INSERT ON transcript WHEN NEW.kind = 'compacted'
BEGIN
    UPDATE conversation SET epoch = epoch + 1 WHERE id = NEW.conversation;
END;
CREATE TRIGGER transcript_changed AFTER UPDATE ON transcript
BEGIN
    UPDATE conversation SET epoch = epoch + 1 WHERE id = OLD.conversation;
END;
CREATE TRIGGER transcript_erased AFTER DELETE ON transcript
BEGIN
    UPDATE conversation SET epoch = epoch + 1 WHERE id = OLD.conversation;
END;

CREATE TABLE plan (
    tenant TEXT NOT NULL,
    id     TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE TABLE request (
    id           TEXT PRIMARY KEY,
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    turn         TEXT NOT NULL,
    requester    TEXT NOT NULL,
    plan         TEXT NOT NULL,
    plan_sha256  TEXT NOT NULL,
    rule         TEXT NOT NULL,
    quorum       INTEGER NOT NULL CHECK (quorum > 0),
    state        TEXT NOT NULL CHECK (state IN
        ('open', 'granted', 'spent', 'denied', 'expired', 'revoked', 'superseded')),
    about        TEXT NOT NULL,
    card         TEXT NOT NULL,
    card_sha256  TEXT NOT NULL,
    times_asked  INTEGER NOT NULL,
    opened_at    TEXT NOT NULL,
    expires_at   TEXT NOT NULL,
    reminded_at  TEXT,
    ended_at     TEXT,
    ended_by     TEXT,
    reason       TEXT NOT NULL,
    FOREIGN KEY (tenant, plan) REFERENCES plan (tenant, id)
) STRICT;

-- The same plan, asked for by the same person in the same conversation, has one live request.
CREATE UNIQUE INDEX request_once ON request (conversation, requester, plan_sha256)
    WHERE state IN ('open', 'granted');
CREATE INDEX request_due ON request (expires_at) WHERE state IN ('open', 'granted');

-- One person, one vote.
CREATE TABLE vote (
    request   TEXT NOT NULL REFERENCES request (id),
    principal TEXT NOT NULL,
    at        TEXT NOT NULL,
    PRIMARY KEY (request, principal)
) STRICT;

CREATE TABLE denial (
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    effect       TEXT NOT NULL,
    tool         TEXT NOT NULL,
    request      TEXT NOT NULL REFERENCES request (id),
    denied_by    TEXT NOT NULL,
    reason       TEXT NOT NULL,
    lifted_at    TEXT,
    PRIMARY KEY (request, effect)
) STRICT;
CREATE INDEX denial_of ON denial (conversation, effect) WHERE lifted_at IS NULL;

-- A request is spent on one run at most.
CREATE TABLE run (
    id           TEXT PRIMARY KEY,
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    request      TEXT NOT NULL UNIQUE REFERENCES request (id),
    state        TEXT NOT NULL CHECK (state IN ('running', 'succeeded', 'failed', 'cancelled', 'unknown')),
    job          TEXT NOT NULL,
    fence        INTEGER NOT NULL,
    started_at   TEXT NOT NULL,
    ended_at     TEXT
) STRICT;
CREATE INDEX run_of_job ON run (job);
CREATE INDEX run_running ON run (id) WHERE state = 'running';

CREATE TABLE step (
    run        TEXT NOT NULL REFERENCES run (id),
    number     INTEGER NOT NULL,
    tool       TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN
        ('pending', 'running', 'succeeded', 'failed', 'unknown', 'not_run', 'cancelled')),
    exit_code  INTEGER,
    output     TEXT NOT NULL,
    note       TEXT NOT NULL,
    started_at TEXT,
    ended_at   TEXT,
    PRIMARY KEY (run, number)
) STRICT;

CREATE TABLE audit (
    seq    INTEGER PRIMARY KEY,
    at     TEXT NOT NULL,
    tenant TEXT NOT NULL,
    kind   TEXT NOT NULL,
    body   TEXT NOT NULL,
    prev   TEXT NOT NULL UNIQUE,
    hash   TEXT NOT NULL
) STRICT;
