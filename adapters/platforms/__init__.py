"""What the adapters of chat platforms are made of: work that goes on, takes, remembered answers, words."""
