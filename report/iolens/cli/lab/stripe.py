"""`iolens stripe set|get|targets|mount`: stripes on Lustre, BeeGFS, CephFS and emulated storage."""

from __future__ import annotations

import argparse
from pathlib import Path

from iolens.cli.numbers import explained
from iolens.lab.installation import MACHINES, storage_config_of
from iolens.lab.sizes import parse_size
from iolens.lab.storage.backends import get_stripes, get_targets, set_stripes
from iolens.lab.storage.emulated import make_mount
from iolens.lab.storage.layout import ANY_TARGET, Layout, layout_words
from iolens.lab.storage.targets import target_lines, targets_summary

_size = explained(parse_size)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the actions of `iolens stripe`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    setter = actions.add_parser("set", help="set the stripes of files that will be made in a directory")
    setter.add_argument("-c", "--count", type=int, required=True, help="number of stripes of a file")
    setter.add_argument("-S", "--size", type=_size, default=2**20, help="bytes of a stripe (default: 1M)")
    setter.add_argument(
        "-i",
        "--start",
        type=int,
        default=ANY_TARGET,
        help="number of the target of the first stripe (default: any)",
    )
    setter.add_argument("--object-size", type=_size, metavar="SIZE", help="bytes of an object (CephFS)")
    setter.add_argument("-p", "--pool", help="pool of targets, by name (BeeGFS 7: by number)")
    setter.add_argument("path", type=Path, metavar="DIR")
    getter = actions.add_parser("get", help="print the number of stripes of a file, or the default of a directory")
    getter.add_argument("path", type=Path, metavar="PATH")
    asker = actions.add_parser(
        "targets", help="print the targets of a file system: how full they are, and which accept no files"
    )
    asker.add_argument("-p", "--pool", help="only the targets of this pool")
    asker.add_argument("path", type=Path, metavar="PATH")
    mounter = actions.add_parser("mount", help="make a directory an emulated file system with stripes")
    mounter.add_argument("path", type=Path, metavar="DIR")
    mounter.add_argument(
        "--config",
        type=storage_config_of,
        metavar="FILE",
        help=f"file with the storage targets and their speeds (default: ost.yaml), or {', '.join(MACHINES)}",
    )


def run(args: argparse.Namespace) -> int:
    """Runs the chosen action."""
    if args.action == "set":
        wanted = Layout(args.count, args.size, args.start, pool=args.pool, object_size=args.object_size)
        if note := set_stripes(args.path, wanted):
            print(note)
    elif args.action == "mount":
        print(f"{make_mount(args.path, args.config)}: emulated storage; use it with: iolens run --storage-mount DIR")
    elif args.action == "targets":
        targets = get_targets(args.path, args.pool)
        print(f"{args.path}: {targets_summary(targets)}\n{target_lines(targets)}")
    else:
        print(f"{args.path}: {layout_words(get_stripes(args.path))}")
    return 0
