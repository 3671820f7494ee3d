"""Tables and paragraphs as lines of text."""
