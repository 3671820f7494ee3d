"""The exhibits that compare logs, runs and outputs."""
