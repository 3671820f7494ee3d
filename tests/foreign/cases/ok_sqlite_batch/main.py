"""Inserts 300000 rows in one transaction and sums them."""

import sqlite3

database = sqlite3.connect("rows.db")
with database:
    database.execute("create table t (id integer primary key, value real)")
    database.executemany("insert into t values (?, ?)", ((number, number * 0.5) for number in range(300000)))
print("sum", database.execute("select sum(value) from t").fetchone()[0])
