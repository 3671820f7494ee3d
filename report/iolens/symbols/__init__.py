"""Turn addresses in object files into functions, source lines and call chains when a report is made."""
