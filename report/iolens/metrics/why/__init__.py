"""Why a job took so long: waits between ranks, their causes, the critical path, and replays with parts of the work left
out. report/WHY.md defines all of it.
"""
