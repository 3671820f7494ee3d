"""Examples of every command, for its manual page."""

from __future__ import annotations

from collections.abc import Mapping

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "run": (
        "iolens run -- mpirun -np 4 ./app input.nml",
        "iolens run --trace mpi,io --sample -- mpirun -np 4 ./app input.nml",
    ),
    "report": ("iolens report job.darshan -o job.pdf", "iolens report FOLDER -o workflow.html"),
    "show": ("iolens show job.darshan",),
    "apa": ("iolens apa job.darshan",),
    "table": ("iolens table --list job.darshan", "iolens table load_balance job.darshan --csv"),
    "advise": ("iolens advise job.darshan", "iolens advise job.darshan --write-hints hints.txt"),
    "rank-order": ("iolens rank-order job.darshan --ranks-per-node 16",),
    "export": ("iolens export --format speedscope -o profile.json job.darshan",),
    "serve": ("iolens serve job.darshan",),
    "verify-answer": ("iolens verify-answer job.darshan answer.txt",),
    "listing": ("iolens listing --source src job.darshan",),
    "live": (
        "iolens live",
        "iolens live 4711 --snapshot",
        "iolens live --prometheus /var/lib/node_exporter/iolens.prom --interval 15",
    ),
    "recover": ("iolens recover --list", "iolens recover --job 4711"),
    "ingest": ("iolens ingest logs -o store",),
    "fleet": ("iolens fleet store -o fleet.html",),
    "anonymize": ("iolens anonymize job.darshan -o public.darshan --key SECRET",),
    "sweep": (
        "iolens sweep experiment.yaml --dry-run",
        "iolens sweep --class S --stripes '1 4' --aggregators 1 --cb-buffer 1M",
    ),
    "tune": ("iolens tune experiment.yaml --budget 12", "iolens tune --log job.darshan"),
    "perform": ("iolens perform results/sweep/points/sc1_ag1_cb1M/rep-1",),
    "compare": ("iolens compare results/sweep -o comparison.pdf", "iolens compare before.darshan after.darshan"),
    "check": ("iolens check new.darshan --against old.darshan --fail 'run_time>+10%'",),
    "diff": ("iolens diff before.darshan after.darshan",),
    "activity": ("iolens activity 4",),
    "workloads": ("iolens workloads list", "iolens workloads build --mpicc mpicc"),
    "completion": ('eval "$(iolens completion bash)"',),
    "doctor": ("iolens doctor",),
    "calibrate": ("iolens calibrate /scratch/you -o model.yaml",),
    "mimic": ("iolens mimic job.darshan -o mini",),
    "predict": ("iolens predict job.darshan --stripes 4,16 --aggregators 4,8",),
    "stripe": ("iolens stripe get /scratch/you/data", "iolens stripe targets /scratch/you"),
    "io500": ("iolens io500 --np 4 --directory /scratch/you",),
    "selfbench": ("iolens selfbench",),
}
"""Examples of each command as lines for a shell, the most usual first."""
