-- What somebody has come back to a conversation. What waits for its time is a job (`due:ID`).
CREATE TABLE reminder (
    tenant       TEXT NOT NULL,
    id           TEXT NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    owner        TEXT NOT NULL,
    text         TEXT NOT NULL,
    set_at       TEXT NOT NULL,
    due_at       TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('pending', 'told', 'cancelled', 'dropped')),
    PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX reminder_pending ON reminder (tenant, owner) WHERE state = 'pending';
