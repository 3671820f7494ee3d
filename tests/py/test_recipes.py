"""Recipes and site files under packaging/ agree with pyproject.toml, and other programs can parse them."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from pathlib import Path

import iolens
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
NEEDED = re.findall(r'"(\w+)([><=.,\d]+)"', PROJECT.partition("\ndependencies = [")[2].partition("]")[0])
"""Each required package with its versions."""


def test_pyproject_was_read() -> None:
    assert ("rich", ">=13,<16") in NEEDED
    assert len(NEEDED) >= 6


def conda() -> dict[str, dict[str, list[str]]]:
    """Returns the recipe as conda-build reads it on Linux, with its templates replaced."""
    text = (PACKAGING / "conda/meta.yaml").read_text(encoding="utf-8")
    plain = re.sub(r"^{%.*%}$", "", text, flags=re.MULTILINE)
    plain = re.sub(r"{{ *(\w+)(\(.*?\))? *}}", r"\1", plain)
    loaded: dict[str, dict[str, list[str]]] = yaml.safe_load(plain)
    return loaded


def test_conda_needs_what_pip_does() -> None:
    recipe = conda()
    for part in ("host", "run"):
        found = dict(str(row).partition(" ")[::2] for row in recipe["requirements"][part])
        assert {
            name.lower().replace("matplotlib", "matplotlib-base"): what for name, what in NEEDED
        }.items() <= found.items()
    assert subprocess.run(["bash", "-n", PACKAGING / "conda/build.sh"], check=False).returncode == 0


def test_spack_needs_what_pip_does() -> None:
    tree = ast.parse((PACKAGING / "spack/packages/iolens/package.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    specs = [call.args[0].value for call in calls if getattr(call.func, "id", "") == "depends_on"]  # type: ignore[attr-defined]
    for name, versions in NEEDED:
        least, most = re.findall(r"[\d.]+", versions)
        spec = next(spec for spec in specs if spec.startswith(f"py-{name.lower()}@"))
        newest = str(int(most) - 1)
        assert spec.partition("@")[2] == (newest if least == newest else f"{least}:{newest}")
    assert yaml.safe_load((PACKAGING / "spack/repo.yaml").read_text())["repo"]["namespace"] == "iolens"


def test_easybuild_is_of_this_version_and_names_every_package() -> None:
    (path,) = (PACKAGING / "easybuild").glob("*.eb")
    fields: dict[str, object] = {}
    exec(path.read_text(encoding="utf-8"), fields)  # An easyconfig file is Python code.
    toolchain = fields["toolchain"]
    assert isinstance(toolchain, dict)
    assert path.name == f"iolens-{toolchain['name']}-{toolchain['version']}.eb"
    assert fields["version"] == iolens.__version__
    text = path.read_text(encoding="utf-8").lower()
    bundled = {"numpy": "scipy-bundle", "pandas": "scipy-bundle"}
    assert [name for name, _ in NEEDED if f"('{bundled.get(name.lower(), name.lower())}'" not in text] == []


def test_debian_needs_what_pip_does() -> None:
    control = (PACKAGING / "debian/control").read_text(encoding="utf-8").lower()
    assert [name for name, _ in NEEDED if f"python3-{name.lower().replace('pyyaml', 'yaml')}" not in control] == []


SCRIPTS = sorted([*PACKAGING.glob("*.sh"), *PACKAGING.glob("site/*.sh")])


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_valid_shell(script: Path) -> None:
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0


STAND_IN = """
proc unknown {args} { puts [join $args " "] }
set env(IOLENS_SITE) on
source %s
"""
"""A Tcl program that prints the changes that a modulefile makes to its user's environment."""


def test_a_modulefile_sets_the_preload(tmp_path: Path) -> None:
    if shutil.which("tclsh") is None:
        pytest.skip("tclsh is not installed")
    script = tmp_path / "try.tcl"
    script.write_text(STAND_IN % (PACKAGING / "modulefiles/iolens.tcl"), encoding="utf-8")
    done = subprocess.run(["tclsh", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "prepend-path PATH /opt/iolens/bin" in done.stdout
    chain = re.findall(r"^prepend-path LD_PRELOAD (.*)$", done.stdout, re.MULTILINE)
    assert chain == ["/opt/iolens/lib/iolens/lib/libiolens.so"]
    lua = (PACKAGING / "modulefiles/iolens.lua").read_text(encoding="utf-8")
    told = set(re.findall(r"^(?:(?:pre|ap)pend-path|setenv) (\w+)", done.stdout, re.MULTILINE))
    assert told == set(re.findall(r'(?:_path|setenv)\("(\w+)"', lua)), "both modulefiles set the same"


def test_the_task_prolog_leaves_alone_who_says_so(tmp_path: Path) -> None:
    """The profile script sets nothing if the user forbids it, the profiler is missing or another preload is set; else
    it sets what Slurm reads.
    """
    libraries, logs = tmp_path / "lib/iolens/lib", tmp_path / "logs"
    text = (PACKAGING / "site/task-prolog.sh").read_text(encoding="utf-8")
    script = tmp_path / "prolog.sh"
    script.write_text(text.replace("/opt/iolens", str(tmp_path)).replace("/scratch/iolens-logs", str(logs)))

    def said(**settings: str) -> list[str]:
        done = subprocess.run(["sh", script], env=settings, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    assert said() == []
    libraries.mkdir(parents=True)
    logs.mkdir()
    (libraries / "libiolens.so").touch()
    assert said(IOLENS_SITE="off") == said(LD_PRELOAD="/x/libdarshan.so") == []
    preload = f"export LD_PRELOAD={libraries}/libiolens.so:/mine.so"
    assert said(LD_PRELOAD="/mine.so")[0] == preload
    assert f"export IOLENS_LOGPATH={logs}" in said()
    assert "export IOLENS_LOGPATH=/own" in said(IOLENS_LOGPATH="/own")


def test_the_commands_of_the_site_page_make_a_folder_that_anyone_may_write_to(tmp_path: Path) -> None:
    """The test replaces the folders that SITE.md names, and leaves out its setfacl, which needs a group of the site."""
    text = (PACKAGING / "SITE.md").read_text(encoding="utf-8")
    blocks = "".join(re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[:2])
    logs, prefix = tmp_path / "scratch/logs", tmp_path / "opt"
    (prefix / "etc").mkdir(parents=True)
    shutil.copy(PACKAGING / "site/site.conf", prefix / "etc")
    commands = blocks.replace("/scratch/iolens-logs", str(logs)).replace("/opt/iolens", str(prefix))
    commands = "".join(line for line in commands.splitlines(keepends=True) if not line.startswith("setfacl"))
    subprocess.run(["bash", "-euc", commands], check=True)
    assert [path.stat().st_mode & 0o7777 for path in (logs, logs / "recovered")] == [0o1777, 0o1777]
    configured = (prefix / "etc/site.conf").read_text(encoding="utf-8")
    assert configured.splitlines()[-1] == "LOG_MODE 0440"
    assert "MODMEM" in configured
