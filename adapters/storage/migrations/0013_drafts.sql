-- Answers that are shown while they are written, each until its turn's first message took its place.
CREATE TABLE draft (
    turn TEXT PRIMARY KEY REFERENCES turn (id),
    tenant TEXT NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    -- Empty until it is known as which message it was posted.
    message TEXT NOT NULL
) STRICT;
CREATE INDEX draft_of ON draft (conversation);
