-- Whether the steps behind one that failed run all the same.
ALTER TABLE step ADD COLUMN on_failure TEXT COLLATE "C" NOT NULL DEFAULT 'stop' CHECK (on_failure IN ('stop', 'continue'));
