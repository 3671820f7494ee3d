"""The rules of the advice, in the order in which they are documented."""

from __future__ import annotations

from importlib import import_module

from iolens.advise.rule import Rule

_FILES = """
    accesses.small_writes accesses.small_reads accesses.shared_small_writes mpiio.independent_small mpiio.not_aggregated
    accesses.random_access accesses.stdio_data accesses.sync_each_write ranks.one_writer ranks.one_reader ranks.turns
    mpiio.few_aggregators ranks.uneven_ranks ranks.straggler_rank ranks.straggler_host targets.straggler_target
    targets.narrow_stripes targets.wide_stripes targets.wide_for_one targets.stripe_size targets.uneven_targets
    targets.shared_stripes targets.unaligned_shared mpiio.unaligned_domains mpiio.hints_ignored mpiio.exchange
    mpiio.collective_slower mpiio.data_sieving accesses.write_amplification accesses.read_again ranks.all_read_one
    accesses.rewriting names.metadata_storm names.reopened names.file_per_process mpiio.nfs_mpiio
    ranks.slow_rank_of_file mpiio.mpiio_above_posix accesses.one_place accesses.many_seeks names.never_read
    targets.unaligned_own targets.few_targets ranks.uneven_times datasets.hdf5_independent datasets.hdf5_metadata
    datasets.hdf5_chunks datasets.hdf5_tiny_datasets datasets.hdf5_unaligned datasets.hdf5_fill_values
    datasets.pnetcdf_independent datasets.pnetcdf_redefine computing.uneven_computing computing.late_receives
    computing.small_messages computing.eager_limit computing.collective_algorithm computing.crowded_processors
    measurement.log_partial measurement.log_blind measurement.overlapping_times measurement.above_device
    measurement.cold_then_warm names.lock_files names.lock_waits accesses.mapped_random accesses.gpu_fallback
    names.missing_paths names.start_up_storm datasets.hdf5_not_collective accesses.fetched_in_vain accesses.sync_open
    accesses.standard_input names.polled_file
"""
"""The files below `rules` as FOLDER.NAME, each with one RULE."""

RULES: tuple[Rule, ...] = tuple(import_module(f"iolens.advise.rules.{name}").RULE for name in _FILES.split())
