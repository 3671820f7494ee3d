"""From addresses in object files to functions, source lines and call chains, when a report is made."""
