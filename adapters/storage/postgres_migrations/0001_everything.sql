-- What the first nineteen migrations of SQLite come to. Texts are compared byte by byte, whatever
-- locale the database has: SQLite compares them so.
-- How many migrations were applied.
CREATE TABLE schema_version (number BIGINT NOT NULL);
INSERT INTO schema_version VALUES (0);

-- Times are UTC text of one width (2026-11-29T21:52:59.123456Z), so they sort as text.
-- Every table that a tenant's people can reach carries the tenant.

CREATE TABLE conversation (
    id        TEXT COLLATE "C" PRIMARY KEY,
    tenant    TEXT COLLATE "C" NOT NULL,
    platform  TEXT COLLATE "C" NOT NULL,
    workspace TEXT COLLATE "C" NOT NULL,
    channel   TEXT COLLATE "C" NOT NULL,
    thread    TEXT COLLATE "C",
    -- What the agent may use here; chosen when the conversation began, and kept.
    profile   TEXT COLLATE "C" NOT NULL DEFAULT 'default',
    opened_at TEXT COLLATE "C" NOT NULL,
    -- Grows whenever what was read of its transcript is no longer how it begins.
    epoch     BIGINT NOT NULL DEFAULT 0,
    -- When what was said and done in a conversation was removed; NULL where it was not.
    erased_at TEXT COLLATE "C",
    -- Denials in a conversation since somebody entitled last let it propose again.
    denials BIGINT NOT NULL DEFAULT 0
);

-- One thread is one conversation. Nothing is posted where there is no thread.
CREATE UNIQUE INDEX conversation_of ON conversation (tenant, platform, workspace, channel, thread)
    WHERE thread IS NOT NULL;

-- A message that came in, and what came of it: a turn is queued with it, in one transaction.
CREATE TABLE turn (
    id           TEXT COLLATE "C" PRIMARY KEY,
    tenant       TEXT COLLATE "C" NOT NULL,
    conversation TEXT COLLATE "C" NOT NULL REFERENCES conversation (id),
    principal    TEXT COLLATE "C" NOT NULL,
    wish         TEXT COLLATE "C" NOT NULL,
    schedule     TEXT COLLATE "C",
    received_at  TEXT COLLATE "C" NOT NULL,
    ended_at     TEXT COLLATE "C",
    reason       TEXT COLLATE "C",
    text         TEXT COLLATE "C" NOT NULL DEFAULT '',
    suggestions  TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    request      TEXT COLLATE "C",
    killed       BIGINT NOT NULL DEFAULT 0,
    -- The turn that answered this message too, where one took it in while it ran.
    absorbed_by TEXT COLLATE "C" REFERENCES turn (id),
    -- In which order they came: SQLite numbers its rows by itself.
    rowid        BIGINT GENERATED ALWAYS AS IDENTITY
);
CREATE INDEX turn_scheduled ON turn (tenant, schedule, received_at) WHERE schedule IS NOT NULL;
CREATE INDEX turn_live ON turn (tenant, conversation) WHERE ended_at IS NULL;

-- Every id under which a platform may deliver a message again.
CREATE TABLE received (
    tenant    TEXT COLLATE "C" NOT NULL,
    platform  TEXT COLLATE "C" NOT NULL,
    workspace TEXT COLLATE "C" NOT NULL,
    delivery  TEXT COLLATE "C" NOT NULL,
    turn      TEXT COLLATE "C" NOT NULL REFERENCES turn (id),
    PRIMARY KEY (tenant, platform, workspace, delivery)
);

-- What was said in a conversation, in order; appended to, and changed by nothing but erasing.
CREATE TABLE entry (
    conversation TEXT COLLATE "C" NOT NULL REFERENCES conversation (id),
    seq          BIGINT NOT NULL,
    at           TEXT COLLATE "C" NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL CHECK (kind IN ('asked', 'answered', 'card', 'progress', 'report', 'note')),
    author       TEXT COLLATE "C" NOT NULL,
    text         TEXT COLLATE "C" NOT NULL,
    about        TEXT COLLATE "C",
    PRIMARY KEY (conversation, seq)
);
CREATE INDEX entry_card ON entry (about) WHERE kind = 'card';
CREATE INDEX entry_progress ON entry (about) WHERE kind = 'progress';
CREATE INDEX entry_news ON entry (conversation, seq) WHERE kind IN ('report', 'note');

-- Which entries were posted to the thread, and as which message of the platform.
CREATE TABLE posted (
    conversation TEXT COLLATE "C" NOT NULL,
    seq          BIGINT NOT NULL,
    message      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation, seq),
    FOREIGN KEY (conversation, seq) REFERENCES entry (conversation, seq)
);

-- What a model is sent again each turn, byte for byte: appended to, and changed by nothing but
-- erasing. It is sent what stands from the newest compaction on.
CREATE TABLE transcript (
    conversation TEXT COLLATE "C" NOT NULL REFERENCES conversation (id),
    seq          BIGINT NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL CHECK (kind IN ('heard', 'called', 'returned', 'spoke', 'noted',
        'stated', 'compacted')),
    body         TEXT COLLATE "C" NOT NULL,
    entry        BIGINT,
    PRIMARY KEY (conversation, seq)
);
CREATE INDEX transcript_told ON transcript (conversation, entry) WHERE entry IS NOT NULL;
CREATE INDEX transcript_begins ON transcript (conversation, seq) WHERE kind = 'compacted';

CREATE TABLE plan (
    tenant TEXT COLLATE "C" NOT NULL,
    id     TEXT COLLATE "C" NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    body   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE request (
    id           TEXT COLLATE "C" PRIMARY KEY,
    tenant       TEXT COLLATE "C" NOT NULL,
    conversation TEXT COLLATE "C" NOT NULL REFERENCES conversation (id),
    turn         TEXT COLLATE "C" NOT NULL,
    requester    TEXT COLLATE "C" NOT NULL,
    plan         TEXT COLLATE "C" NOT NULL,
    plan_sha256  TEXT COLLATE "C" NOT NULL,
    rule         TEXT COLLATE "C" NOT NULL,
    quorum       BIGINT NOT NULL CHECK (quorum > 0),
    state        TEXT COLLATE "C" NOT NULL CHECK (state IN
        ('open', 'granted', 'spent', 'denied', 'expired', 'revoked', 'superseded')),
    about        TEXT COLLATE "C" NOT NULL,
    card         TEXT COLLATE "C" NOT NULL,
    card_sha256  TEXT COLLATE "C" NOT NULL,
    times_asked  BIGINT NOT NULL,
    opened_at    TEXT COLLATE "C" NOT NULL,
    expires_at   TEXT COLLATE "C" NOT NULL,
    reminded_at  TEXT COLLATE "C",
    ended_at     TEXT COLLATE "C",
    ended_by     TEXT COLLATE "C",
    reason       TEXT COLLATE "C" NOT NULL,
    -- When the message that asked for it was edited, while it waited.
    edited_at TEXT COLLATE "C",
    -- The grant under which a request came to be granted; of all others nobody needed to be asked.
    under TEXT COLLATE "C",
    -- Out of which request one was edited, who has edited it, and which one it became.
    edits TEXT COLLATE "C",
    editors TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    became TEXT COLLATE "C",
    -- When other groups were told that a request waits.
    escalated_at TEXT COLLATE "C",
    -- Who let it run without what its rule asks for, and why. Empty for every other one.
    broken_by TEXT COLLATE "C",
    broken_why TEXT COLLATE "C" NOT NULL DEFAULT '',
    FOREIGN KEY (tenant, plan) REFERENCES plan (tenant, id)
);

-- The same plan, asked for by the same person in the same conversation, has one live request.
CREATE UNIQUE INDEX request_once ON request (conversation, requester, plan_sha256)
    WHERE state IN ('open', 'granted');
CREATE INDEX request_due ON request (expires_at) WHERE state IN ('open', 'granted');

-- One person, one vote.
CREATE TABLE vote (
    request   TEXT COLLATE "C" NOT NULL REFERENCES request (id),
    principal TEXT COLLATE "C" NOT NULL,
    at        TEXT COLLATE "C" NOT NULL,
    -- The step of the code that came with a vote; none where none was demanded.
    code_step BIGINT,
    PRIMARY KEY (request, principal)
);

CREATE TABLE denial (
    tenant       TEXT COLLATE "C" NOT NULL,
    conversation TEXT COLLATE "C" NOT NULL REFERENCES conversation (id),
    effect       TEXT COLLATE "C" NOT NULL,
    tool         TEXT COLLATE "C" NOT NULL,
    request      TEXT COLLATE "C" NOT NULL REFERENCES request (id),
    denied_by    TEXT COLLATE "C" NOT NULL,
    reason       TEXT COLLATE "C" NOT NULL,
    lifted_at    TEXT COLLATE "C",
    PRIMARY KEY (request, effect)
);
CREATE INDEX denial_of ON denial (conversation, effect) WHERE lifted_at IS NULL;

-- A request is spent on one run at most.
CREATE TABLE run (
    id           TEXT COLLATE "C" PRIMARY KEY,
    tenant       TEXT COLLATE "C" NOT NULL,
    conversation TEXT COLLATE "C" NOT NULL REFERENCES conversation (id),
    request      TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES request (id),
    state        TEXT COLLATE "C" NOT NULL CHECK (state IN ('running', 'succeeded', 'failed', 'cancelled', 'unknown')),
    job          TEXT COLLATE "C" NOT NULL,
    fence        BIGINT NOT NULL,
    started_at   TEXT COLLATE "C" NOT NULL,
    ended_at     TEXT COLLATE "C"
);
CREATE INDEX run_of_job ON run (job);
CREATE INDEX run_running ON run (id) WHERE state = 'running';

CREATE TABLE step (
    run        TEXT COLLATE "C" NOT NULL REFERENCES run (id),
    number     BIGINT NOT NULL,
    tool       TEXT COLLATE "C" NOT NULL,
    state      TEXT COLLATE "C" NOT NULL CHECK (state IN
        ('pending', 'running', 'succeeded', 'failed', 'unknown', 'not_run', 'cancelled')),
    exit_code  BIGINT,
    output     TEXT COLLATE "C" NOT NULL,
    note       TEXT COLLATE "C" NOT NULL,
    started_at TEXT COLLATE "C",
    ended_at   TEXT COLLATE "C",
    PRIMARY KEY (run, number)
);

CREATE TABLE audit (
    seq    BIGINT PRIMARY KEY,
    at     TEXT COLLATE "C" NOT NULL,
    tenant TEXT COLLATE "C" NOT NULL,
    kind   TEXT COLLATE "C" NOT NULL,
    body   TEXT COLLATE "C" NOT NULL,
    prev   TEXT COLLATE "C" NOT NULL UNIQUE,
    hash   TEXT COLLATE "C" NOT NULL
);

CREATE TABLE job (
    seq           BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    id            TEXT COLLATE "C" NOT NULL UNIQUE,
    kind          TEXT COLLATE "C" NOT NULL,
    tenant        TEXT COLLATE "C" NOT NULL,
    payload       TEXT COLLATE "C" NOT NULL,
    replay        TEXT COLLATE "C" NOT NULL CHECK (replay IN ('safe', 'never')),
    lane          TEXT COLLATE "C",
    dedupe        TEXT COLLATE "C" UNIQUE,
    state         TEXT COLLATE "C" NOT NULL CHECK (state IN
        ('queued', 'running', 'done', 'failed', 'cancelled', 'unknown')),
    run_at        TEXT COLLATE "C" NOT NULL,
    attempt       BIGINT NOT NULL,
    -- How often it was put back because something outside did not answer.
    tries         BIGINT NOT NULL DEFAULT 0,
    fence         BIGINT NOT NULL,
    owner         TEXT COLLATE "C",
    lease_until   TEXT COLLATE "C",
    cancel_at     TEXT COLLATE "C",
    submitted_at  TEXT COLLATE "C" NOT NULL,
    ended_at      TEXT COLLATE "C"
);

-- One running job a lane: the database itself holds this, whatever a claim does.
CREATE UNIQUE INDEX job_one_per_lane ON job (lane) WHERE state = 'running';
CREATE INDEX job_ready ON job (seq, run_at) WHERE state = 'queued';
CREATE INDEX job_in_lane ON job (lane, seq) WHERE state = 'queued';
CREATE INDEX job_leased ON job (lease_until) WHERE state = 'running';

-- What a job has to itself while it runs. Only jobs that are yet to end have rows here.
CREATE TABLE job_lock (
    job  TEXT COLLATE "C" NOT NULL REFERENCES job (id),
    lock TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (job, lock)
);
CREATE INDEX job_lock_of ON job_lock (lock, job);

-- What happened in a turn, written as it happens: names, ids, sizes, digests, and why something was
-- refused, which may name an argument as the model did.
CREATE TABLE happening (
    tenant       TEXT COLLATE "C" NOT NULL,
    conversation TEXT COLLATE "C" NOT NULL REFERENCES conversation (id),
    turn         TEXT COLLATE "C" NOT NULL REFERENCES turn (id),
    -- Which claim of the turn's job it happened under: a turn may be begun again after a crash.
    claim        BIGINT NOT NULL,
    seq          BIGINT NOT NULL,
    at           TEXT COLLATE "C" NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL CHECK (kind IN ('staged', 'moved', 'looked', 'guarded', 'finished')),
    body         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (turn, seq)
);
CREATE INDEX happening_of ON happening (conversation, at);

-- How much of a rate somebody has used, as one point in time (microseconds since 1970): each use
-- moves it on by the span divided by how many fit into it.
CREATE TABLE rate (
    tenant    TEXT COLLATE "C" NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    name      TEXT COLLATE "C" NOT NULL,
    used_to   BIGINT NOT NULL,
    PRIMARY KEY (tenant, principal, name)
);
CREATE INDEX request_of_plan ON request (tenant, plan);

-- What was kept of a conversation for later turns of it. `source` says where it came from: a turn
-- and a call, or a person.
CREATE TABLE memory (
    id           TEXT COLLATE "C" PRIMARY KEY,
    tenant       TEXT COLLATE "C" NOT NULL,
    conversation TEXT COLLATE "C" NOT NULL REFERENCES conversation (id),
    seq          BIGINT NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL CHECK (kind IN ('semantic', 'procedural')),
    trust        TEXT COLLATE "C" NOT NULL CHECK (trust IN ('person', 'model', 'software')),
    source       TEXT COLLATE "C" NOT NULL,
    text         TEXT COLLATE "C" NOT NULL,
    sha256       TEXT COLLATE "C" NOT NULL,
    at           TEXT COLLATE "C" NOT NULL,
    expires_at   TEXT COLLATE "C" NOT NULL,
    UNIQUE (conversation, seq)
);
CREATE INDEX memory_due ON memory (expires_at);

-- What a conversation is about now. The requests that wait for people are read, not kept here.
CREATE TABLE frame (
    conversation TEXT COLLATE "C" PRIMARY KEY REFERENCES conversation (id),
    tenant       TEXT COLLATE "C" NOT NULL,
    intent       TEXT COLLATE "C" NOT NULL,
    entities     TEXT COLLATE "C" NOT NULL,
    -- The last entry of the conversation before the task began.
    since        BIGINT NOT NULL
);

-- Which plans are those of the task: found from the few requests that wait, however long the talk.
CREATE INDEX turn_of_request ON turn (request) WHERE request IS NOT NULL;
CREATE INDEX entry_asked ON entry (about) WHERE kind = 'asked';

-- What somebody has come back to a conversation. What waits for its time is a job (`due:ID`).
CREATE TABLE reminder (
    tenant       TEXT COLLATE "C" NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    conversation TEXT COLLATE "C" NOT NULL REFERENCES conversation (id),
    owner        TEXT COLLATE "C" NOT NULL,
    text         TEXT COLLATE "C" NOT NULL,
    set_at       TEXT COLLATE "C" NOT NULL,
    due_at       TEXT COLLATE "C" NOT NULL,
    state        TEXT COLLATE "C" NOT NULL CHECK (state IN ('pending', 'told', 'cancelled', 'dropped')),
    PRIMARY KEY (tenant, id)
);
CREATE INDEX reminder_pending ON reminder (tenant, owner) WHERE state = 'pending';

-- In which conversations a plan was frozen without anybody being asked about it.
CREATE TABLE frozen (
    tenant       TEXT COLLATE "C" NOT NULL,
    plan         TEXT COLLATE "C" NOT NULL,
    conversation TEXT COLLATE "C" NOT NULL REFERENCES conversation (id),
    PRIMARY KEY (tenant, plan, conversation),
    FOREIGN KEY (tenant, plan) REFERENCES plan (tenant, id)
);
CREATE INDEX frozen_in ON frozen (conversation);
-- What people may look at is read newest first, a page at a time, and never past what they ask for.
CREATE INDEX run_newest ON run (tenant, started_at, id);
CREATE INDEX run_unknown ON run (tenant, started_at, id) WHERE state = 'unknown';
CREATE INDEX request_ended ON request (tenant, conversation, opened_at, id)
    WHERE state IN ('denied', 'expired', 'revoked');
-- Who asked first in a conversation, and who asked last.
CREATE INDEX turn_of ON turn (conversation, received_at);

-- Answers that are shown while they are written, each until its turn's first message took its place.
CREATE TABLE draft (
    turn TEXT COLLATE "C" PRIMARY KEY REFERENCES turn (id),
    tenant TEXT COLLATE "C" NOT NULL,
    conversation TEXT COLLATE "C" NOT NULL REFERENCES conversation (id),
    -- Empty until it is known as which message it was posted.
    message TEXT COLLATE "C" NOT NULL
);
CREATE INDEX draft_of ON draft (conversation);

-- Of what one process alone may do, which one does it, and until when unless it says so again.
CREATE TABLE lease (
    name TEXT COLLATE "C" PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL,
    until TEXT COLLATE "C" NOT NULL
);

-- Standing grants. What one allows, and to whom, stands in the plan of the request that made it.
CREATE TABLE standing_grant (
    id TEXT COLLATE "C" PRIMARY KEY,
    tenant TEXT COLLATE "C" NOT NULL,
    -- The request by which people allow it; while that is open, so is this.
    request TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES request (id),
    requester TEXT COLLATE "C" NOT NULL,
    proposer TEXT COLLATE "C" NOT NULL,
    place TEXT COLLATE "C" NOT NULL,
    plan_sha256 TEXT COLLATE "C" NOT NULL,
    most BIGINT NOT NULL CHECK (most > 0),
    used BIGINT NOT NULL CHECK (used BETWEEN 0 AND most),
    lasts_ms BIGINT NOT NULL CHECK (lasts_ms > 0),
    until TEXT COLLATE "C",
    state TEXT COLLATE "C" NOT NULL CHECK (state IN
        ('proposed', 'active', 'suspended', 'expired', 'used_up', 'revoked')),
    proposed_at TEXT COLLATE "C" NOT NULL,
    ended_at TEXT COLLATE "C",
    ended_by TEXT COLLATE "C",
    reason TEXT COLLATE "C" NOT NULL
);
CREATE INDEX standing_grant_active ON standing_grant (tenant, requester) WHERE state = 'active';

ALTER TABLE request ADD FOREIGN KEY (under) REFERENCES standing_grant (id);
CREATE INDEX request_under ON request (under) WHERE under IS NOT NULL;

-- Each use of a grant has a number of its own, and is one run.
CREATE TABLE grant_use (
    standing_grant TEXT COLLATE "C" NOT NULL REFERENCES standing_grant (id),
    number BIGINT NOT NULL CHECK (number > 0),
    tenant TEXT COLLATE "C" NOT NULL,
    request TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES request (id),
    PRIMARY KEY (standing_grant, number)
);

-- What holds back everything that would run in a tenant: a pause, which has no name, and windows of
-- sayso.yml while they last. The spend itself asks for a pause; windows are kept to be told of.
CREATE TABLE brake (
    tenant TEXT COLLATE "C" NOT NULL,
    name   TEXT COLLATE "C" NOT NULL,
    since  TEXT COLLATE "C" NOT NULL,
    until  TEXT COLLATE "C",
    set_by TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    spares TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    PRIMARY KEY (tenant, name)
);

-- Whom a note calls where it is posted.
CREATE TABLE called (
    conversation TEXT COLLATE "C" NOT NULL,
    seq          BIGINT NOT NULL,
    principal    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation, seq, principal),
    FOREIGN KEY (conversation, seq) REFERENCES entry (conversation, seq)
);

-- Who was asked by somebody to decide a request: each is asked once.
CREATE TABLE handover (
    tenant    TEXT COLLATE "C" NOT NULL,
    request   TEXT COLLATE "C" NOT NULL REFERENCES request (id),
    principal TEXT COLLATE "C" NOT NULL,
    asked_by  TEXT COLLATE "C" NOT NULL,
    at        TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (request, principal)
);

-- Somebody's second factor. What codes are made of is encrypted, bound to the tenant and the person.
CREATE TABLE factor (
    tenant       TEXT COLLATE "C" NOT NULL,
    principal    TEXT COLLATE "C" NOT NULL,
    sealed       TEXT COLLATE "C" NOT NULL,
    enrolled_at  TEXT COLLATE "C" NOT NULL,
    last_step    BIGINT NOT NULL, -- the newest step of time of which a code was used
    wrong        BIGINT NOT NULL, -- wrong codes since the last right one
    locked_until TEXT COLLATE "C",
    PRIMARY KEY (tenant, principal)
);

-- Accounts that people linked to themselves, each resting on one that sayso.yml lists.
CREATE TABLE link (
    tenant       TEXT COLLATE "C" NOT NULL,
    platform     TEXT COLLATE "C" NOT NULL,
    workspace    TEXT COLLATE "C" NOT NULL,
    account      TEXT COLLATE "C" NOT NULL,
    principal    TEXT COLLATE "C" NOT NULL,
    on_platform  TEXT COLLATE "C" NOT NULL,
    on_workspace TEXT COLLATE "C" NOT NULL,
    on_account   TEXT COLLATE "C" NOT NULL,
    made_at      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, platform, workspace, account),
    UNIQUE (tenant, principal, platform, workspace)
);

-- How a link comes to be: a code that was offered, claimed by an account, confirmed by both sides.
CREATE TABLE linking (
    id           TEXT COLLATE "C" PRIMARY KEY,
    tenant       TEXT COLLATE "C" NOT NULL,
    code         TEXT COLLATE "C" NOT NULL,
    principal    TEXT COLLATE "C" NOT NULL,
    on_platform  TEXT COLLATE "C" NOT NULL,
    on_workspace TEXT COLLATE "C" NOT NULL,
    on_account   TEXT COLLATE "C" NOT NULL,
    platform     TEXT COLLATE "C" NOT NULL DEFAULT '',
    workspace    TEXT COLLATE "C" NOT NULL DEFAULT '',
    account      TEXT COLLATE "C" NOT NULL DEFAULT '',
    state        TEXT COLLATE "C" NOT NULL CHECK (state IN ('offered', 'claimed', 'asked', 'made', 'refused', 'ended')),
    expires_at   TEXT COLLATE "C" NOT NULL,
    UNIQUE (tenant, code)
);
CREATE INDEX linking_live ON linking (tenant, principal) WHERE state IN ('offered', 'claimed', 'asked');
CREATE INDEX linking_over ON linking (expires_at);

-- A process remembers what it read, for one epoch. Nothing that ends one can forget to say so.
CREATE FUNCTION transcript_is_another() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE conversation SET epoch = epoch + 1 WHERE id = coalesce(NEW.conversation, OLD.conversation);
    RETURN NULL;
END $$;
CREATE TRIGGER transcript_compacted AFTER INSERT ON transcript FOR EACH ROW
    WHEN (NEW.kind = 'compacted') EXECUTE FUNCTION transcript_is_another();
CREATE TRIGGER transcript_changed AFTER UPDATE OR DELETE ON transcript FOR EACH ROW
    EXECUTE FUNCTION transcript_is_another();

-- Several statements end a job. None of them, nor one that is written later, can forget its locks.
CREATE FUNCTION job_lock_over() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM job_lock WHERE job = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER job_lock_over AFTER UPDATE OF state ON job FOR EACH ROW
    WHEN (NEW.state NOT IN ('queued', 'running')) EXECUTE FUNCTION job_lock_over();

-- What the audit log says stays; what conversations say goes by nothing but erasing.
CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'audit' OR current_setting('sayso.erasing', true) IS DISTINCT FROM 'on' THEN
        RAISE EXCEPTION '% is only ever added to', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER stays BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION stays();
CREATE TRIGGER stays_whole BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION stays();
CREATE TRIGGER stays BEFORE UPDATE OR DELETE ON entry FOR EACH ROW EXECUTE FUNCTION stays();
CREATE TRIGGER stays_whole BEFORE TRUNCATE ON entry FOR EACH STATEMENT EXECUTE FUNCTION stays();
CREATE TRIGGER stays BEFORE UPDATE OR DELETE ON transcript FOR EACH ROW EXECUTE FUNCTION stays();
CREATE TRIGGER stays_whole BEFORE TRUNCATE ON transcript FOR EACH STATEMENT EXECUTE FUNCTION stays();
CREATE TRIGGER stays BEFORE UPDATE OR DELETE ON happening FOR EACH ROW EXECUTE FUNCTION stays();
CREATE TRIGGER stays_whole BEFORE TRUNCATE ON happening FOR EACH STATEMENT EXECUTE FUNCTION stays();
