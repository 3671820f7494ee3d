"""Answers about a log for programs that ask: tables, judgement, and whether the numbers of a text are the log's."""
