-- What a job has to itself while it runs. Only jobs that are yet to end have rows here.
CREATE TABLE job_lock (
    job  TEXT NOT NULL REFERENCES job (id),
    lock TEXT NOT NULL,
    PRIMARY KEY (job, lock)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_lock_of ON job_lock (lock, job);

-- Several statements end a job. None of them, nor one that is written later, can forget its locks.
CREATE TRIGGER job_lock_over AFTER UPDATE OF state ON job
WHEN NEW.state NOT IN ('queued', 'running')
BEGIN
    DELETE FROM job_lock WHERE job = NEW.id;
END;
