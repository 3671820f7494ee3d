"""What a traced run would take at other settings: its calls, replayed through the model of storage."""
