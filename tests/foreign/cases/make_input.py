"""Makes the input files of the cases: binary, text or many small files, always the same for the same arguments."""

import json
import os
import random
import struct
import sys


def binary(path, mib):
    """Writes so many MiB of bytes that do not repeat within 64 KiB."""
    block = random.Random(path).randbytes(1 << 20)
    with open(path, "wb") as stream:
        for number in range(int(mib)):
            stream.write(struct.pack("<q", number) + block[8:])


def text(path, lines):
    """Writes lines of a key and two numbers."""
    source = random.Random(path)
    with open(path, "w") as stream:
        for number in range(int(lines)):
            stream.write(f"key{number % 1000:04d} {source.randrange(10**6)} {source.random():.9f}\n")


def small(folder, files, size):
    """Writes many small files into one folder."""
    source = random.Random(folder)
    os.makedirs(folder, exist_ok=True)
    for number in range(int(files)):
        with open(f"{folder}/item{number:06d}", "w") as stream:
            stream.write((f"{source.randrange(10**9)} " * (int(size) // 10 + 1))[: int(size) - 1] + "\n")


def jsons(folder, files):
    """Writes small JSON files and the same records as one file of lines."""
    source = random.Random(folder)
    os.makedirs(folder, exist_ok=True)
    with open(folder + ".jsonl", "w") as together:
        for number in range(int(files)):
            record = json.dumps({"id": number, "value": source.randrange(10**6), "note": "x" * 80})
            together.write(record + "\n")
            with open(f"{folder}/{number:06d}.json", "w") as stream:
                stream.write(record)


def modules(package, number):
    """Writes a package of many tiny modules, and one module with the same contents."""
    os.makedirs(package, exist_ok=True)
    with open(f"{package}/__init__.py", "w") as stream:
        stream.write("")
    together = []
    for item in range(int(number)):
        body = f"value{item} = {item}\n"
        together.append(body)
        with open(f"{package}/part{item:05d}.py", "w") as stream:
            stream.write(body)
    with open(package + "_one.py", "w") as stream:
        stream.writelines(together)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
