#!/bin/bash
#SBATCH --job-name=btio-B
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --time=00:20:00
#SBATCH --output=%x-%j.out
#SBATCH --exclusive
#SBATCH --signal=B:TERM@60

# Two lines to edit: the modules of your site, and a directory on its Lustre file system.
module load openmpi
SCRATCH_DIR=${SCRATCH_DIR:-/scratch/$USER}

# BT-IO class B with one process: 1697.93 MB. Stripes: sbatch --export=ALL,STRIPES=10 run_btio-B.sh
source "${IOLENS_HOME:-$SLURM_SUBMIT_DIR}/slurm/common.sh"
run_btio "${CLASS:-B}" "${STRIPES:-1}"
