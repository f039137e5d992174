"""What the bot does: one module a deed."""
