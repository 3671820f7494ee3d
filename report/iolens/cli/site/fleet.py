"""`iolens fleet STORE`: reports the I/O of a site by user, application and file system, the possible savings, and their
changes over time.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from iolens.cli.output import add_output, add_table_folders, output_of
from iolens.foreign import print_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("store", type=Path, metavar="STORE", help="a data set made by `iolens ingest`")
    add_output(parser, "none, the report goes to the terminal")
    parser.add_argument("--sql", metavar="QUERY", help="print only the answer to this SQL query, as CSV")
    add_table_folders(parser)
    parser.add_argument("--parquet", type=Path, metavar="DIR", help="write every table as Parquet into DIR")


def run(args: argparse.Namespace) -> int:
    """Writes the document that the options ask for; without one, prints the report."""
    from iolens.fleet.job_rows import need

    need("fleet", "pyarrow", "duckdb")
    from iolens.fleet.store import open_store

    store = open_store(args.store)
    if args.sql:
        print(store.sql(args.sql).to_csv(index=False), end="")
        return 0
    from iolens.pages.base.exhibit import frames
    from iolens.pages.exhibits.many_jobs import FLEET_EXHIBITS
    from iolens.pages.many.fleet_report import show_fleet, write_fleet
    from iolens.pages.output.export import export, need_folders

    folders = {"csv": args.csv, "json": args.json, "parquet": args.parquet}
    need_folders(folders)
    name = args.store.resolve().name
    if args.output or args.format:
        document = output_of(args, Path(name))
        write_fleet(store, document)
        print_line(f"report: {document}")
    else:
        show_fleet(store)
    if any(folders.values()):
        export(frames(FLEET_EXHIBITS, store), f"{name}.", folders)
    return 0
