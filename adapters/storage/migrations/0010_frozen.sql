-- In which conversations a plan was frozen without anybody being asked about it.
CREATE TABLE frozen (
    tenant       TEXT NOT NULL,
    plan         TEXT NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    PRIMARY KEY (tenant, plan, conversation),
    FOREIGN KEY (tenant, plan) REFERENCES plan (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX frozen_in ON frozen (conversation);
