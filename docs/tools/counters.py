"""Unit and meaning of each of Darshan's counters. A counter is found by a pattern of its name without the module's name
in front.

The first row that matches counts. The words describe Darshan's log format 3.41; profiler/manual/darshan.md lists the
differences in logs of iolens.
"""

from __future__ import annotations

import re

from iolens.log.format.counters import BUCKETS

RANGES = {
    bucket: bucket.replace("_PLUS", " B and more").replace("_", " to ") + ("" if "PLUS" in bucket else " B")
    for bucket in BUCKETS
}

SPECIAL: tuple[tuple[str, str, str, str], ...] = (
    ("H5F", r"FLUSHES", "calls", "H5Fflush"),
    ("H5F|H5D", r"OPENS", "calls", "opened or created"),
    ("H5D", r"FLUSHES", "calls", "flushes of the dataset"),
    ("PNETCDF_FILE", r"SYNCS", "calls", "ncmpi_sync"),
    ("PNETCDF_FILE", r"OPENS", "calls", "ncmpi_open"),
    ("PNETCDF_VAR", r"OPENS", "calls", "calls that define or look up the variable"),
    ("PNETCDF_VAR", r"INDEP_(READS|WRITES)", "calls", "independent {1}"),
    ("PNETCDF_VAR", r"COLL_(READS|WRITES)", "calls", "collective {1}"),
    ("MPIIO", r"INDEP_(OPENS|READS|WRITES)", "calls", "independent {1}; opens on MPI_COMM_SELF"),
    ("BGQ", r"F_TIMESTAMP", "s", "time when the other values were read"),
    ("BGQ", r"(.+)", "", "Blue Gene/Q: {1}, a property of the job's partition"),
    ("DAOS", r"(OBJ|ARRAY|KV)_(OTYPE|CELL_SIZE|CHUNK_SIZE)", "", "DAOS: {2} of the {1}"),
    ("DAOS", r"(OBJ|ARRAY|KV)_(.+)", "calls", "DAOS {1} calls: {2}"),
    ("DFS", r"GLOBAL_OPENS", "calls", "opens through a handle that another rank had made"),
    ("DFS", r"(LOOKUPS|READXS|WRITEXS|GET_SIZES|PUNCHES|REMOVES)", "calls", "DFS calls: {1}"),
    ("DFS", r"CHUNK_SIZE", "B", "chunk of the file"),
    ("STDIO", r"FDOPENS", "calls", "streams opened over a descriptor"),
    ("STDIO", r"FLUSHES", "calls", "fflush"),
)
"""Counters whose meaning in one module is special: module, pattern of the name, unit, meaning."""

COMMON: tuple[tuple[str, str, str], ...] = (
    (r"OPENS", "calls", "opens"),
    (r"FILENOS", "calls", "fileno, which returns the descriptor of a stream"),
    (r"DUPS", "calls", "dup, dup2, dup3 and fcntl with F_DUPFD"),
    (r"(READS|WRITES|SEEKS|STATS)", "calls", "{1}"),
    (r"MMAPS", "calls", "mmap of the file"),
    (r"FSYNCS", "calls", "fsync"),
    (r"FDSYNCS", "calls", "fdatasync"),
    (r"RENAME_(SOURCE|TARGET)S", "calls", "renames in which the file was the {1}"),
    (r"RENAMED_FROM", "record id", "the first file that was renamed to this path"),
    (r"MODE", "flags", "mode of the last open; for MPI-IO, the amode"),
    (r"COLL_(OPENS|READS|WRITES)", "calls", "collective {1}"),
    (r"SPLIT_(READS|WRITES)", "calls", "split collective {1} (…_begin, …_end)"),
    (r"NB_(READS|WRITES|OPS)", "calls", "nonblocking {1}"),
    (r"SYNCS", "calls", "MPI_File_sync"),
    (r"HINTS", "calls", "opens and other calls that were given hints"),
    (r"VIEWS", "calls", "MPI_File_set_view"),
    (r"BYTES_(READ|WRITTEN)", "B", "bytes {1}"),
    (r"MAX_BYTE_(READ|WRITTEN)", "offset", "highest byte {1}"),
    (r"CONSEC_(READS|WRITES)", "calls", "{1} that begin where the previous access ended"),
    (r"SEQ_(READS|WRITES)", "calls", "{1} at a higher offset than the previous access"),
    (r"RW_SWITCHES", "calls", "changes between reading and writing"),
    (r"MEM_NOT_ALIGNED", "calls", "accesses whose buffer is not at a multiple of MEM_ALIGNMENT"),
    (r"MEM_ALIGNMENT", "B", "required alignment of buffers in memory"),
    (r"FILE_NOT_ALIGNED", "calls", "accesses at an offset that is no multiple of FILE_ALIGNMENT"),
    (r"FILE_ALIGNMENT", "B", "required alignment of offsets in the file: block or stripe size"),
    (r"MAX_(READ|WRITE)_TIME_SIZE", "B", "bytes of the slowest {1}"),
    (r"SIZE_(READ|WRITE)_(AGG_)?(\w+)", "calls", "{1}s of {range}"),
    (r"STRIDE(\d)_STRIDE", "B", "the {nth} most common distance between accesses"),
    (r"STRIDE(\d)_COUNT", "calls", "accesses at that distance"),
    (r"ACCESS(\d)_ACCESS", "B", "the {nth} most common size of an access"),
    (r"ACCESS(\d)_LENGTH_D(\d)", "items", "{nth} most common access: items in dimension {2}, 1 being the fastest"),
    (r"ACCESS(\d)_STRIDE_D(\d)", "items", "{nth} most common access: stride in dimension {2}"),
    (r"ACCESS(\d)_COUNT", "calls", "accesses of that size"),
    (r"(FASTEST|SLOWEST)_RANK", "rank", "the {1} rank of a shared file, by time in reads, writes and metadata"),
    (r"(FASTEST|SLOWEST)_RANK_BYTES", "B", "bytes that the {1} rank moved"),
    (r"F_(FASTEST|SLOWEST)_RANK_TIME", "s", "time of the {1} rank"),
    (r"F_VARIANCE_RANK_TIME", "s²", "population variance of the ranks' times in a shared file"),
    (r"F_VARIANCE_RANK_BYTES", "B²", "population variance of the ranks' bytes in a shared file"),
    (r"F_(OPEN|READ|WRITE|CLOSE|WAIT)_START_TIMESTAMP", "s", "start of the first {1}, since the job began; 0: none"),
    (r"F_(OPEN|READ|WRITE|CLOSE|WAIT)_END_TIMESTAMP", "s", "end of the last {1}, since the job began; 0: none"),
    (r"F_(READ|WRITE)_TIME", "s", "time in {1}s, summed over the ranks of a shared file"),
    (r"F_META_TIME", "s", "time in open, close, stat, seek and similar calls, summed over ranks"),
    (r"F_WAIT_TIME", "s", "time in waits, summed over ranks"),
    (r"F_MAX_(READ|WRITE)_TIME", "s", "time of the slowest {1}"),
    (r"USE_MPIIO", "0 or 1", "whether the file was opened with MPI-IO"),
    (r"USE_MPIIO_COLLECTIVE", "0 or 1", "whether the program asked for collective transfers"),
    (r"USE_DEPRECATED", "0 or 1", "whether a deprecated call was used"),
    (r"(REGULAR|IRREGULAR)_HYPERSLAB_SELECTS", "calls", "accesses that select a {1} hyperslab"),
    (r"POINT_SELECTS", "calls", "accesses that select single points"),
    (r"(DATASPACE_)?NDIMS", "dimensions", "dimensions"),
    (r"(DATASPACE_)?NPOINTS", "items", "items in all"),
    (r"DATATYPE_SIZE", "B", "size of an item"),
    (r"CHUNK_SIZE_D(\d)", "items", "chunk in dimension {1}, 1 being the fastest; 0: not chunked"),
    (r"IS_RECORD_VAR", "0 or 1", "whether the variable has the record dimension"),
    (r"CREATES", "calls", "ncmpi_create"),
    (r"REDEFS", "calls", "ncmpi_redef"),
    (r"INDEP_WAITS", "calls", "ncmpi_wait"),
    (r"COLL_WAITS", "calls", "ncmpi_wait_all"),
    (r"WAIT_FAILURES", "calls", "waits that failed"),
    (r"(PUT|GET|IPUT|IGET|BPUT)_(VAR\w?)", "calls", "ncmpi_{1}_{2}, all types"),
)
"""Pattern of a counter's name, unit and meaning, for all modules in which the counter has no special meaning. In a
meaning, {1} stands for the first group of the pattern, in lower case.
"""

NTH = {"1": "first", "2": "second", "3": "third", "4": "fourth"}


def meaning(module: str, counter: str) -> tuple[str, str]:
    """Returns unit and meaning of a counter such as `POSIX_OPENS`; raises KeyError if no row has it."""
    name = counter.removeprefix(f"{module}_")
    for modules, pattern, unit, words in (*SPECIAL, *((".*", *row) for row in COMMON)):
        found = re.fullmatch(pattern, name)
        if found and re.fullmatch(modules, module):
            return unit, filled(words, [group or "" for group in found.groups()])
    raise KeyError(counter)


def filled(words: str, groups: list[str]) -> str:
    """Replaces {1}, {2}, {range} and {nth} in a meaning by the groups that the pattern found in the counter's name."""
    for number, group in enumerate(groups, 1):
        words = words.replace(f"{{{number}}}", group.lower().replace("_", " "))
    if "{range}" in words:
        words = words.replace("{range}", RANGES[groups[2]])
    return words.replace("{nth}", NTH.get(groups[0], "") if groups else "")
