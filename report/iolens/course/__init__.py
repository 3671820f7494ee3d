"""The course: its claims about the runs of an activity, and the check of these claims against the user's own runs."""
