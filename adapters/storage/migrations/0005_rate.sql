-- How much of a rate somebody has used, as one point in time (microseconds since 1970): each use
-- moves it on by the span divided by how many fit into it.
CREATE TABLE rate (
    tenant    TEXT NOT NULL,
    principal TEXT NOT NULL,
    name      TEXT NOT NULL,
    used_to   INTEGER NOT NULL,
    PRIMARY KEY (tenant, principal, name)
) STRICT, WITHOUT ROWID;
