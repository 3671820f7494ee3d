#!/bin/bash
# Counts the words of each file with a process for each, or with one process for all.
if [ "$1" = twin ]; then
    cat items/* | wc -w
else
    total=0
    for file in items/*; do
        total=$((total + $(cat "$file" | wc -w)))
    done
    echo $total
fi
