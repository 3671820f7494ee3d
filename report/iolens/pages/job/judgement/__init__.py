"""The judgement of a job and its advice in words: as paragraphs, lists, JSON, and the tables of the documentation."""
