-- What people may look at is read newest first, a page at a time, and never past what they ask for.
CREATE INDEX run_newest ON run (tenant, started_at, id);
CREATE INDEX run_unknown ON run (tenant, started_at, id) WHERE state = 'unknown';
CREATE INDEX request_ended ON request (tenant, conversation, opened_at, id)
    WHERE state IN ('denied', 'expired', 'revoked');
