"""Runs two threads, each of which calls two functions for 70 and 30 % of its time; prints the seconds of each
function.
"""

import sys
import threading
import time

SECONDS: dict[str, float] = {"seventy": 0.0, "thirty": 0.0}
LOCK = threading.Lock()


def seventy(turns: int) -> int:
    """Works for 70 % of the time."""
    return count(turns, "seventy")


def thirty(turns: int) -> int:
    """Works for 30 % of the time."""
    return count(turns, "thirty")


def count(turns: int, name: str) -> int:
    """Computes a sum, and adds the time that this took to the seconds of the function."""
    begin, total = time.perf_counter(), 0
    for turn in range(turns):
        total += turn * turn % 7
    with LOCK:
        SECONDS[name] += time.perf_counter() - begin
    return total


def main(until: float) -> None:
    """Calls both functions in small steps, so that both threads get their share."""
    while time.thread_time() < until:
        seventy(7000)
        thirty(3000)


threads = [threading.Thread(target=main, args=(float(sys.argv[1]),)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(*(f"{name} {seconds:.6f}" for name, seconds in SECONDS.items()), sep="\n")
