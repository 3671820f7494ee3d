"""The form of a log file: container, header, records of each module, and private regions."""
