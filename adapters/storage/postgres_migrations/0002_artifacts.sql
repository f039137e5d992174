-- All that a step printed, where that is more than is shown: the file that holds it, or why there is none.
CREATE TABLE artifact (
    run          TEXT COLLATE "C" NOT NULL,
    number       BIGINT NOT NULL,
    tenant       TEXT COLLATE "C" NOT NULL,
    conversation TEXT COLLATE "C" NOT NULL REFERENCES conversation (id),
    requester    TEXT COLLATE "C" NOT NULL,
    bytes        BIGINT,
    sha256       TEXT COLLATE "C",
    why_not      TEXT COLLATE "C" NOT NULL,
    kept_at      TEXT COLLATE "C" NOT NULL,
    removed_at   TEXT COLLATE "C",
    PRIMARY KEY (run, number),
    FOREIGN KEY (run, number) REFERENCES step (run, number),
    CHECK ((bytes IS NULL) = (sha256 IS NULL) AND (bytes IS NULL) = (why_not <> ''))
);
CREATE INDEX artifact_lies ON artifact (kept_at) WHERE sha256 IS NOT NULL AND removed_at IS NULL;
CREATE INDEX artifact_in ON artifact (conversation);

-- What a run does, as a digest of its tools and their definitions: how long the same took before.
-- None where its time tells nothing.
ALTER TABLE run ADD COLUMN does TEXT COLLATE "C";
CREATE INDEX run_does ON run (tenant, does, started_at) WHERE state = 'succeeded' AND does IS NOT NULL;
