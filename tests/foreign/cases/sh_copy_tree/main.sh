#!/bin/bash
# Copies five thousand small files one by one, or as one archive.
if [ "$1" = twin ]; then
    cp items.tar copy.tar
    tar tf copy.tar | grep -c item0
else
    cp -r items copy
    ls copy | grep -c item0
fi
