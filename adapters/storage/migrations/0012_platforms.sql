-- Who asked first in a conversation, and who asked last.
CREATE INDEX turn_of ON turn (conversation, received_at);

-- When the message that asked for it was edited, while it waited.
ALTER TABLE request ADD COLUMN edited_at TEXT;
