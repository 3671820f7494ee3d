"""Starts a program for each item and waits for it, or does the same itself."""

import hashlib
import subprocess
import sys

cured = sys.argv[1:] == ["twin"]
mix = hashlib.sha256()
for number in range(250):
    text = f"item {number}\n"
    if cured:
        digest = hashlib.md5(text.encode()).hexdigest()
    else:
        digest = subprocess.run(["md5sum"], input=text, capture_output=True, text=True).stdout.split()[0]
    mix.update(digest.encode())
print("mix", mix.hexdigest())
