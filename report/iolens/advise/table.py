"""The rules of the advice, in the order in which they are documented."""

from __future__ import annotations

from importlib import import_module

from iolens.advise.rule import Rule

_FILES = """
    small_writes small_reads shared_small_writes independent_small not_aggregated random_access stdio_data
    sync_each_write one_writer one_reader turns few_aggregators uneven_ranks straggler_rank straggler_host
    straggler_target narrow_stripes wide_stripes wide_for_one stripe_size uneven_targets shared_stripes
    unaligned_shared unaligned_domains hints_ignored exchange collective_slower data_sieving write_amplification
    read_again all_read_one rewriting metadata_storm reopened file_per_process nfs_mpiio slow_rank_of_file
    mpiio_above_posix one_place many_seeks never_read unaligned_own few_targets uneven_times hdf5_independent
    hdf5_metadata hdf5_chunks hdf5_tiny_datasets hdf5_unaligned hdf5_fill_values pnetcdf_independent pnetcdf_redefine
    uneven_computing late_receives small_messages eager_limit collective_algorithm crowded_processors log_partial
    log_blind overlapping_times above_device cold_then_warm lock_files lock_waits mapped_random gpu_fallback
    missing_paths hdf5_not_collective fetched_in_vain
"""
"""Names of the files in `rules`, each with one RULE."""

RULES: tuple[Rule, ...] = tuple(import_module(f"iolens.advise.rules.{name}").RULE for name in _FILES.split())
