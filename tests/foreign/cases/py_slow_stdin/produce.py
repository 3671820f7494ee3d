"""Prints numbers, with a pause after each thousand that stands for a slow source, or without."""

import sys
import time

for number in range(30000):
    print(number)
    if sys.argv[1] == "fault" and number % 1000 == 999:
        sys.stdout.flush()
        time.sleep(0.1)
