"""iolens for Spack, from the clone that this file lies in:

spack repo add packaging/spack
spack install iolens          # what is committed on main
spack dev-build iolens@main   # this folder as it is
"""

from pathlib import Path

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *

CLONE = Path(__file__).resolve().parents[4]


class Iolens(PythonPackage):
    """I/O profiler for parallel programs, with reports, sweeps and emulated storage targets."""

    homepage = "https://example.org/iolens"
    git = CLONE.as_uri()

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("workloads", default=True, description="Build the bundled workloads with the MPI")
    variant("fleet", default=False, description="Install what `iolens ingest` and `iolens fleet` need")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("mpi")
    depends_on("parallel-netcdf", when="+workloads")

    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-setuptools@64:", type="build")
    depends_on("py-matplotlib@3.7:3", type=("build", "run"))
    depends_on("py-numpy@1.24:2", type=("build", "run"))
    depends_on("py-pandas@2.0:3", type=("build", "run"))
    depends_on("py-pyyaml@6", type=("build", "run"))
    depends_on("py-reportlab@4.0:5", type=("build", "run"))
    depends_on("py-rich@13:15", type=("build", "run"))
    depends_on("py-pyarrow@14:", type="run", when="+fleet")
    depends_on("py-duckdb@1:2", type="run", when="+fleet")

    conflicts("platform=darwin", msg="the profiler is preloaded by the Linux loader")
    conflicts("platform=windows", msg="the profiler is preloaded by the Linux loader")

    def setup_build_environment(self, env):
        """Leaves the parts that are not Python to `install_parts`."""
        env.set("IOLENS_PARTS", "separate")

    @run_after("install")
    def install_parts(self):
        """Installs the parts that are not Python into the folders in which the package searches for them, as in the
        wheel.
        """
        build = Path(self.stage.source_path) / "build" / "spack"
        options = [f"BUILD={build}", f"CC={spack_cc}", f"MPICC={self.spec['mpi'].mpicc}"]
        parts = ["storage", "profiler"] + (["workloads"] if self.spec.satisfies("+workloads") else [])
        with working_dir(self.stage.source_path):
            for part in parts:
                make("-C", part, *options, *(["ARCH="] if part == "workloads" else []), "all")
            target = Path(python_purelib) / "iolens" / "parts"
            python("packaging/stage.py", str(target), str(self.prefix.share), str(build))
            if "workloads" in parts:
                for program in (build / "bin").iterdir():
                    install(str(program), str(target / "bin"))

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_doctor(self):
        """Checks that a program is recorded and its log can be read."""
        Executable(self.prefix.bin.iolens)("doctor")

    def test_doctor(self):
        """Records a program and, if there are workloads, two ranks."""
        which(self.prefix.bin.iolens)("doctor")
