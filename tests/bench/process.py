"""Measures what a preloaded library costs a process with one file: `process.py PROCESSES LIBRARY...`.

Processes without a library and with each of them take turns. Prints the processor time (by `wait4`) that each library
adds, for the median and the fastest tenth of the processes, and their page faults. Logs and files are in /dev/shm if it
is there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """#include <fcntl.h>
#include <unistd.h>
int main(int count, char **words)
{
    int fd = open(words[1], O_WRONLY | O_CREAT, 0600);
    return fd < 0 || write(fd, "hello", 5) != 5 || close(fd) != 0;
}
"""


def seconds_and_faults(program: Path, folder: Path, library: str) -> tuple[float, int]:
    """Runs the program once; returns its processor time in seconds and its page faults."""
    environment = os.environ | {"IOLENS_LOGPATH": str(folder), "IOLENS_INCLUDE": str(folder), "LD_PRELOAD": library}
    process = os.posix_spawn(program, [str(program), str(folder / "file")], environment)
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"process.py: the program ended with status {status} under {library or 'no library'}")
    return used.ru_utime + used.ru_stime, used.ru_minflt


def main() -> None:
    count, libraries = int(sys.argv[1]), ["", *(str(Path(word).resolve(strict=True)) for word in sys.argv[2:])]
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=place) as made:
        folder, program = Path(made), Path(made) / "one_file"
        subprocess.run(["gcc", "-x", "c", "-O1", "-o", program, "-"], input=PROGRAM, text=True, check=True)
        found: dict[str, list[tuple[float, int]]] = {library: [] for library in libraries}
        for turn in range(count):
            for number in range(len(libraries)):
                library = libraries[(turn + number) % len(libraries)]
                found[library].append(seconds_and_faults(program, folder, library))
            for log in folder.glob("*.darshan"):
                log.unlink()
    ranks = {"median": count // 2, "fastest tenth": count // 10}
    sorted_of = {library: sorted(values) for library, values in found.items()}
    for library in libraries[1:]:
        times = [
            f"{name} +{1e3 * (sorted_of[library][n][0] - sorted_of[''][n][0]):.2f} ms" for name, n in ranks.items()
        ]
        faults = sorted(n for _, n in found[library])[count // 2] - sorted(n for _, n in found[""])[count // 2]
        print(f"{library}: {', '.join(times)}, {faults} page faults")


if __name__ == "__main__":
    main()
