"""Commands that record a program, or save what a job recorded."""
