-- Somebody's second factor. What codes are made of is encrypted, bound to the tenant and the person.
CREATE TABLE factor (
    tenant       TEXT NOT NULL,
    principal    TEXT NOT NULL,
    sealed       TEXT NOT NULL,
    enrolled_at  TEXT NOT NULL,
    last_step    INTEGER NOT NULL, -- the newest step of time of which a code was used
    wrong        INTEGER NOT NULL, -- wrong codes since the last right one
    locked_until TEXT,
    PRIMARY KEY (tenant, principal)
) STRICT, WITHOUT ROWID;
-- The step of the code that came with a vote; none where none was demanded.
ALTER TABLE vote ADD COLUMN code_step INTEGER;
