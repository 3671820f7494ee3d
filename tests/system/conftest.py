"""Fixtures for tests of whole programs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import PATIENCE

SCRIPT = Path(__file__).resolve().parents[1] / "slurm" / "cluster.sh"

ON_ONE_MACHINE = {
    "OMPI_MCA_btl": "self,vader,tcp",
    "OMPI_MCA_btl_tcp_if_include": "lo",
    "OMPI_MCA_oob_tcp_if_include": "lo",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
"""Open MPI settings for the cluster, whose nodes are processes of this machine with host names of their own and a
common network interface (lo). Ranks are not bound to cores, because Slurm is told of more cores than exist.
"""


@pytest.fixture(scope="session", autouse=True)
def programs_can_be_interrupted() -> None:
    """Restores SIGINT, which a shell without job control ignores in background commands such as these tests, and in
    their children.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Starts a temporary Slurm cluster of four nodes on this machine, without accounting, and yields its users'
    environment.
    """
    for tool in ("/usr/sbin/slurmctld", "/usr/sbin/slurmd", "mpirun"):
        if not shutil.which(tool):
            pytest.skip(f"{Path(tool).name} is not installed")
    if subprocess.run(["unshare", "--uts", "--mount", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("nodes with host names of their own need root")
    folder = tmp_path_factory.mktemp("cluster")
    subprocess.run([SCRIPT, "start", folder], check=True, timeout=PATIENCE)
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("IOLENS_", "SLURM_"))}
    yield {
        **inherited,
        **ON_ONE_MACHINE,
        "SLURM_CONF": f"{folder}/slurm.conf",
        "PATH": f"{folder}/bin:{os.environ['PATH']}",
    }
    subprocess.run([SCRIPT, "stop", folder], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mounts a file system of 10 MiB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=10m", "tmpfs", str(place)]
    if os.geteuid() != 0 or shutil.which("mount") is None or subprocess.run(mount, check=False).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    yield place
    # The test's last process may still use the file system.
    subprocess.run(["umount", "--lazy", str(place)], check=True)
