"""Waits for the output of a helper: looks for its file twice a second, or waits for its end."""

import os
import subprocess
import sys
import time

cured = sys.argv[1:] == ["twin"]
for task in range(7):
    helper = subprocess.Popen(["/bin/sh", "-c", f"sleep 0.03; echo {task} >out.tmp; mv out.tmp out{task}"])
    if cured:
        helper.wait()
    else:
        while not os.path.exists(f"out{task}"):
            time.sleep(0.5)
        helper.wait()
print("total", sum(int(open(f"out{task}").read()) for task in range(7)))
