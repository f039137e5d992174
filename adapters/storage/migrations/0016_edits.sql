-- Out of which request one was edited, who has edited it, and which one it became.
ALTER TABLE request ADD COLUMN edits TEXT;
ALTER TABLE request ADD COLUMN editors TEXT NOT NULL DEFAULT '[]';
ALTER TABLE request ADD COLUMN became TEXT;
