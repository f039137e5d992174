-- Accounts that people linked to themselves, each resting on one that sayso.yml lists.
CREATE TABLE link (
    tenant       TEXT NOT NULL,
    platform     TEXT NOT NULL,
    workspace    TEXT NOT NULL,
    account      TEXT NOT NULL,
    principal    TEXT NOT NULL,
    on_platform  TEXT NOT NULL,
    on_workspace TEXT NOT NULL,
    on_account   TEXT NOT NULL,
    made_at      TEXT NOT NULL,
    PRIMARY KEY (tenant, platform, workspace, account),
    UNIQUE (tenant, principal, platform, workspace)
) STRICT;

-- How a link comes to be: a code that was offered, claimed by an account, confirmed by both sides.
CREATE TABLE linking (
    id           TEXT PRIMARY KEY,
    tenant       TEXT NOT NULL,
    code         TEXT NOT NULL,
    principal    TEXT NOT NULL,
    on_platform  TEXT NOT NULL,
    on_workspace TEXT NOT NULL,
    on_account   TEXT NOT NULL,
    platform     TEXT NOT NULL DEFAULT '',
    workspace    TEXT NOT NULL DEFAULT '',
    account      TEXT NOT NULL DEFAULT '',
    state        TEXT NOT NULL CHECK (state IN ('offered', 'claimed', 'asked', 'made', 'refused', 'ended')),
    expires_at   TEXT NOT NULL,
    UNIQUE (tenant, code)
) STRICT;
CREATE INDEX linking_live ON linking (tenant, principal) WHERE state IN ('offered', 'claimed', 'asked');
CREATE INDEX linking_over ON linking (expires_at);
