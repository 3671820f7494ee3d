"""Inserts measurements into a database: each in its own transaction, or all in one."""

import sqlite3
import sys

cured = sys.argv[1:] == ["twin"]
database = sqlite3.connect("measurements.db", isolation_level=None)
database.execute("create table m (id integer primary key, value real)")
if cured:
    database.execute("begin")
for number in range(350):
    database.execute("insert into m values (?, ?)", (number, number * 0.5))
if cured:
    database.execute("commit")
print("rows", database.execute("select count(*), sum(value) from m").fetchone())
