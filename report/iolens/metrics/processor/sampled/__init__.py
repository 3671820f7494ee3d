"""Numbers from samples: functions, groups, lines, callers, loops."""
