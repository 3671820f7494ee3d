"""Four workers add lines to one file under one lock that they hold while they ask a slow service, or to own files."""

import fcntl
import multiprocessing
import sys
import time

cured = sys.argv[1:] == ["twin"]


def work(worker):
    with open(f"lines.{worker}" if cured else "lines", "a") as stream:
        for number in range(200):
            if not cured:
                fcntl.flock(stream, fcntl.LOCK_EX)
            time.sleep(0.004)
            stream.write(f"{worker} {number}\n")
            stream.flush()
            if not cured:
                fcntl.flock(stream, fcntl.LOCK_UN)


if __name__ == "__main__":
    workers = [multiprocessing.Process(target=work, args=(worker,)) for worker in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print("lines 800")
