#!/bin/sh
# Loads rows with the sqlite3 command: each insert in a transaction of its own, or all in one.
{
    echo "create table t (id integer primary key, name text);"
    [ "$1" = twin ] && echo "begin;"
    i=0
    while [ $i -lt 300 ]; do
        echo "insert into t values ($i, 'name $i');"
        i=$((i + 1))
    done
    [ "$1" = twin ] && echo "commit;"
    echo "select count(*), sum(id) from t;"
} | sqlite3 rows.db
