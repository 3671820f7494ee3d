"""Rules about reads and writes: their sizes, order, repetition and path."""
