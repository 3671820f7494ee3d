#!/bin/bash
# Writes lines to a file that each echo opens again, or that stays open.
if [ "$1" = twin ]; then
    for ((i = 0; i < 80000; i++)); do echo "line $i"; done >lines.txt
else
    for ((i = 0; i < 80000; i++)); do echo "line $i" >>lines.txt; done
fi
wc -l <lines.txt
