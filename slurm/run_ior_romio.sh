#!/bin/bash
#SBATCH --job-name=ior-romio
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=24
#SBATCH --time=00:20:00
#SBATCH --output=%x-%j.out
#SBATCH --exclusive
#SBATCH --signal=B:TERM@60

# Two lines to edit: the modules of your site, and a directory on its Lustre file system.
module load openmpi
SCRATCH_DIR=${SCRATCH_DIR:-/scratch/$USER}

# IOR, 48 processes, 100 blocks of 1 MiB each: 4800 MiB, collective, three repetitions. IOR is the site's own
# (IOR=/path/to/ior); -k leaves its file until its stripes are listed. With the hints of hints.txt:
# sbatch --export=ALL,HINTS=1 run_ior_romio.sh
source "${IOLENS_HOME:-$SLURM_SUBMIT_DIR}/slurm/common.sh"
if [ -n "${HINTS:-}" ]; then
    export ROMIO_HINTS="$IOLENS_HOME/slurm/hints.txt" ROMIO_PRINT_HINTS=1
fi
in_fresh_directory "${STRIPES:-4}" \
    profiled "${IOR:-ior}" -a MPIIO -c -C -e -k -i 3 -b 1m -t 1m -s "${SEGMENTS:-100}" -o ior.dat
