"""The parts that every page is made of: blocks, exhibits with their columns, and formatted numbers."""
