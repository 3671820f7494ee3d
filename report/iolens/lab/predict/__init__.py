"""Predict the time of a traced run at other settings by replaying its calls through the model of storage."""
