-- What a conversation is about now. The requests that wait for people are read, not kept here.
CREATE TABLE frame (
    conversation TEXT PRIMARY KEY REFERENCES conversation (id),
    tenant       TEXT NOT NULL,
    intent       TEXT NOT NULL,
    entities     TEXT NOT NULL,
    -- The last entry of the conversation before the task began.
    since        INTEGER NOT NULL
) STRICT;

-- Which plans are those of the task: found from the few requests that wait, however long the talk.
CREATE INDEX turn_of_request ON turn (request) WHERE request IS NOT NULL;
CREATE INDEX entry_asked ON entry (about) WHERE kind = 'asked';
