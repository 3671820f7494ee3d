"""Writes a mini-app, a program that makes the I/O calls of a traced run: trace → classes of ranks → loops → a C
file.
"""
