"""Copies a file with shutil and compares lengths."""

import os
import shutil

shutil.copyfile("input.bin", "copy.bin")
print("bytes", os.path.getsize("copy.bin"))
