-- What happened in a turn, written as it happens: names, ids, sizes, digests, and why something was
-- refused, which may name an argument as the model did.
CREATE TABLE happening (
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    turn         TEXT NOT NULL REFERENCES turn (id),
    -- Which claim of the turn's job it happened under: a turn may be begun again after a crash.
    claim        INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    at           TEXT NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('staged', 'moved', 'looked', 'guarded', 'finished')),
    body         TEXT NOT NULL,
    PRIMARY KEY (turn, seq)
) STRICT;
CREATE INDEX happening_of ON happening (conversation, at);
