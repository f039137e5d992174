-- The turn that answered this message too, where one took it in while it ran.
ALTER TABLE turn ADD COLUMN absorbed_by TEXT REFERENCES turn (id);
