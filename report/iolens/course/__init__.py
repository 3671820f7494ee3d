"""The course: what it says of an activity's runs, and whether these runs say the same."""
