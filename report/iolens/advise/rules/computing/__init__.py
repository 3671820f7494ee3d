"""Rules about computing, messages and processors, which are not I/O."""
