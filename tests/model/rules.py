"""The intended differences between iolens and Darshan: the rows of the table in profiler/manual/darshan.md.

The model calls `rules.ours(SUBJECT)` wherever the two differ. Any other difference in Darshan's log is an error of the
model or of the list. test_model.py compares the list with the table.
"""

from __future__ import annotations

from dataclasses import dataclass

# Differences that the model implements, by the subject that it gives to `ours`.
MODELLED = {
    "stat": "`stat`, `fstat`, `lstat`, `statx`, `fstatat` of glibc 2.33 and later",
    "unseen stdio": "fortified calls (`__read_chk`, `__fprintf_chk` …), `puts`, `getline`, `getc`, `putc`, unlocked "
    "variants, `scanf`, wide characters (`fputws` …)",
    "mmap": "`mmap`",
    "between files": "`sendfile`, `copy_file_range`, `splice`",
    "renameat": "`renameat`, `renameat2`",
    "taken over": "a descriptor or stream that `dup2`, `freopen` or an unseen close gives to another file",
    "close_range": "`close_range`",
    "redirected": "descriptors that a program was given, as by `program > file`",
    "values": "most common sizes and strides",
    "position": "position of two descriptors of one file",
    "append": "appending",
    "folders": "`..` and `dirfd`",
    "links": "symbolic links",
    "zeros": "`fgets` of text with zero bytes",
    "empty": 'reads and writes of 0 bytes, `fputs("")`, `getw` at the end of a file',
    "status": "MPI-IO transfers that end at the end of the file",
    "clock": "clock",
    "heat map": "HEATMAP",
}

# Rows that no program of the model shows, and why.
NOT_MODELLED = {
    **dict.fromkeys(
        [
            "`unlink`, `truncate`, `fallocate`, `mkdir`, `rmdir`, `link` and their relatives",
            "locks by `fcntl`, `flock`, `lockf`",
            "mapped files",
            "opens, stats, reads and writes that fail",
            "bytes per object storage target",
            "counters of the Lustre client",
            "stripes of files on CephFS",
            "MPI-IO hints",
            "`MPI_File_set_size`, `_preallocate`, `_get_size`, `_delete`, `_seek`, `_set_atomicity`, and the ends of "
            "split collectives",
            "`io_submit` past libaio",
        ],
        "private tables, which Darshan's log has no place for",
    ),
    **dict.fromkeys(
        [
            "libaio (`io_submit`)",
            "requests through io_uring",
            "descriptors in a child of `fork`",
            "programs without MPI",
            "`dprintf`, `vdprintf`",
            "programs that `MPI_Comm_spawn` starts",
            "a program that becomes another one by `exec`",
            "PNETCDF_VAR: several variables in one call (`ncmpi_mput_…`, `ncmpi_mget_…`)",
            "what MPI libraries open and ask while `MPI_Init` runs",
            "files per module",
            "DXT memory",
            "thread of a traced call",
            "sizes above 2 GiB in one call",
            "`H5Dread_multi`, `H5Dwrite_multi`",
            "`H5Fcreate_async`, `H5Dwrite_async` and the other calls with an event set",
            "HDF5 settings given from outside",
            "collective HDF5 transfers that were carried out independently",
            "TCP connections that a program makes, and requests through libcurl",
            "transfers between storage and GPUs (cuFile, hipFile)",
        ],
        "the generator makes no such program",
    ),
    **dict.fromkeys(
        [
            "`<STDIN>`, `<STDOUT>`, `<STDERR>`",
            "`tmpfile`, `openat2` by its number",
        ],
        "programs that show it are left out under Darshan",
    ),
    **dict.fromkeys(
        [
            "time of overlapping calls on one file",
            "`POSIX_FILE_ALIGNMENT`",
            "`POSIX_MODE`, `MPIIO_MODE`, `RENAMED_FROM` of shared files",
            "time stamps of ranks",
            "DXT offsets in MPI-IO",
            "LUSTRE",
            "log written",
        ],
        "Darshan runs without MPI, without traces and in one file system here",
    ),
    **dict.fromkeys(
        [
            "HDF5, PnetCDF",
            "H5D: name of a dataset",
            "H5D: lengths and strides `_D1` … `_D5`",
            'H5D: `H5Dcreate_anon` with `H5Olink` (`file["name"] = array` in h5py)',
            "H5D: all of a dataset (`H5S_ALL`) that has grown since it was opened",
            "H5D: closed while another reference holds it open (netCDF-4 reading)",
            "PNETCDF_VAR: which variable",
            "PNETCDF_VAR: lengths and strides `_D1` … `_D5`",
            "PNETCDF_VAR: whole variables",
        ],
        "the interpreter has no such call; what iolens says of them, hunt_hdf5.py and hunt_pnetcdf.py recount",
    ),
}


@dataclass(frozen=True)
class Rules:
    """The library whose records the model computes: "iolens" or "darshan"."""

    recorder: str = "iolens"

    def ours(self, subject: str) -> bool:
        if subject not in MODELLED:
            raise KeyError(f"{subject}: not a row of the table")
        return self.recorder == "iolens"
