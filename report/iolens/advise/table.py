"""The rules of the advice, in the order in which they are documented."""

from __future__ import annotations

from iolens.advise.rule import Rule
from iolens.advise.rules import (
    aggregator_rules,
    alignment_rules,
    computing_rules,
    dataset_rules,
    file_rules,
    measurement_rules,
    metadata_rules,
    mpiio_rules,
    needless_rules,
    rank_rules,
    target_rules,
    transfer_rules,
)

_MODULES = (
    aggregator_rules,
    alignment_rules,
    computing_rules,
    dataset_rules,
    file_rules,
    measurement_rules,
    metadata_rules,
    mpiio_rules,
    needless_rules,
    rank_rules,
    target_rules,
    transfer_rules,
)

_ORDER = """
    small-writes small-reads shared-small-writes independent-small not-aggregated random-access stdio-data
    sync-each-write one-writer one-reader turns few-aggregators uneven-ranks straggler-rank straggler-host
    straggler-target narrow-stripes wide-stripes wide-for-one stripe-size uneven-targets shared-stripes unaligned-shared
    unaligned-domains hints-ignored exchange collective-slower data-sieving write-amplification read-again all-read-one
    rewriting metadata-storm reopened file-per-process nfs-mpiio slow-rank-of-file mpiio-above-posix one-place
    many-seeks never-read unaligned-own few-targets uneven-times hdf5-independent hdf5-metadata hdf5-chunks
    hdf5-tiny-datasets hdf5-unaligned hdf5-fill-values pnetcdf-independent pnetcdf-redefine uneven-computing
    late-receives small-messages eager-limit collective-algorithm crowded-processors log-partial log-blind
    overlapping-times above-device cold-then-warm lock-files lock-waits mapped-random gpu-fallback missing-paths
    start-up-storm hdf5-not-collective fetched-in-vain sync-open standard-input polled-file
"""
"""The rules by name."""

_BY_NAME = {rule.id: rule for module in _MODULES for rule in vars(module).values() if isinstance(rule, Rule)}

RULES: tuple[Rule, ...] = tuple(_BY_NAME[name] for name in _ORDER.split())
