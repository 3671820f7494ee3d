"""One file per rule, in folders by subject; iolens/advise/table.py lists them in order."""
