#!/bin/bash
#SBATCH --job-name=btio-C
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=18
#SBATCH --time=00:30:00
#SBATCH --output=%x-%j.out
#SBATCH --exclusive
#SBATCH --signal=B:TERM@60

# Two lines to edit: the modules of your site, and a directory on its Lustre file system.
module load openmpi
SCRATCH_DIR=${SCRATCH_DIR:-/scratch/$USER}

# BT-IO class C with 36 processes: 6802.44 MB. Stripes: sbatch --export=ALL,STRIPES=4 --nodes=4 --ntasks-per-node=9 …
source "${IOLENS_HOME:-$SLURM_SUBMIT_DIR}/slurm/common.sh"
run_btio "${CLASS:-C}" "${STRIPES:-1}"
