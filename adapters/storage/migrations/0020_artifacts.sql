-- All that a step printed, where that is more than is shown: the file that holds it, or why there is none.
CREATE TABLE artifact (
    run          TEXT NOT NULL,
    number       INTEGER NOT NULL,
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    requester    TEXT NOT NULL,
    bytes        INTEGER,
    sha256       TEXT,
    why_not      TEXT NOT NULL,
    kept_at      TEXT NOT NULL,
    removed_at   TEXT,
    PRIMARY KEY (run, number),
    FOREIGN KEY (run, number) REFERENCES step (run, number),
    CHECK ((bytes IS NULL) = (sha256 IS NULL) AND (bytes IS NULL) = (why_not <> ''))
) STRICT;
CREATE INDEX artifact_lies ON artifact (kept_at) WHERE sha256 IS NOT NULL AND removed_at IS NULL;
CREATE INDEX artifact_in ON artifact (conversation);

-- What a run does, as a digest of its tools and their definitions: how long the same took before.
-- None where its time tells nothing.
ALTER TABLE run ADD COLUMN does TEXT;
CREATE INDEX run_does ON run (tenant, does, started_at) WHERE state = 'succeeded' AND does IS NOT NULL;
