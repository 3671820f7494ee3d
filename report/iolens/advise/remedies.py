"""Texts to paste that several rules share: hints, stripes, collective calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from iolens.log.job import EMULATED

_MIB = 1 << 20

_STRIPED = ("lustre", EMULATED, "ceph", "fuse.ceph", "beegfs")
"""Types of file systems on which `iolens stripe set` works."""


def fitting(remedy: str, kinds: Collection[str]) -> str:
    """Returns a remedy without the lines for file systems that a job did not use, whose types are not among `kinds`.

    Such a line begins with a mark, which is removed: `@lustre:`, `@nfs:`, `@stripes:` for any with stripes, or
    `@other:` for stripes elsewhere than on Lustre.
    """
    marks = {"@lustre": ("lustre",), "@nfs": ("nfs",), "@stripes": _STRIPED}
    held = {mark: any(kind.startswith(begins) for kind in kinds) for mark, begins in marks.items()}
    holds = {**held, "@other": held["@stripes"] and not held["@lustre"]}
    kept = []
    for line in remedy.split("\n"):
        mark, _, text = line.partition(":")
        if mark not in holds:
            kept.append(line)
        elif holds[mark]:
            kept.append(text)
    return "\n".join(kept)


def hints_text(lines: Iterable[str]) -> str:
    """Returns the text with a hints file, one `key value` per line, and how to pass it to ROMIO and to `iolens run`."""
    return "\n".join(
        [
            "Put these hints into hints.txt or into the MPI_Info of MPI_File_open:",
            "",
            *(f"  {line}" for line in lines),
            "",
            "  export ROMIO_HINTS=$PWD/hints.txt",
            "    (MPICH, Intel MPI, Open MPI with OMPI_MCA_io=romio321)",
            "or try them without a change to the program:",
            "",
            """  iolens run --hints "*:$(tr ' \\n' '=,' < hints.txt | sed 's/,$//')" -- ...""",
        ]
    )


def stripes_text(count: int | str, size: int | None = None) -> str:
    """Returns the command that sets the layout of new files in a folder; -1: over all targets."""
    unit = "" if size is None else f" -S {size // _MIB}M" if size % _MIB == 0 else f" -S {size // 1024}K"
    return (
        f"Lay out the folder before the files are made (old files keep their\nlayout):\n\n"
        f"  lfs setstripe -c {count}{unit} FOLDER\n"
        f"  iolens stripe set -c {count}{unit} FOLDER    # does the same"
    )


COLLECTIVE = """\
Describe each rank's part by a view, and write it in one collective call:

  C        MPI_Type_create_subarray(dims, sizes, parts, starts, MPI_ORDER_C,
                                    MPI_DOUBLE, &part);
           MPI_Type_commit(&part);
           MPI_File_set_view(file, 0, MPI_DOUBLE, part, "native", info);
           MPI_File_write_all(file, buffer, count, MPI_DOUBLE, &status);
  Fortran  call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, &
                MPI_DOUBLE_PRECISION, part, 'native', info)
           call MPI_File_write_all(file, buffer, n, &
                MPI_DOUBLE_PRECISION, status)
  Python   file.Set_view(0, MPI.DOUBLE, part); file.Write_all(array)
  HDF5     H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
           h5py: with dataset.collective: dataset[part] = array"""
"""A remedy that replaces independent or small accesses by collective ones."""

BROADCAST = """\
Let one rank read, and broadcast the data:

  C        if (rank == 0) read_input(buffer, bytes);
           MPI_Bcast(buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  Fortran  if (rank == 0) read (unit) buffer
           call MPI_Bcast(buffer, n, MPI_DOUBLE_PRECISION, 0, &
                MPI_COMM_WORLD)
  Python   data = comm.bcast(open(path, 'rb').read() if rank == 0 else None)"""
"""A remedy that replaces reads by all ranks with a read by one rank."""
