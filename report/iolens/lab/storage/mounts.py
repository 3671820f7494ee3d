"""The file systems that this node has mounted."""

from __future__ import annotations

from pathlib import Path


def file_system(path: Path) -> tuple[str, str]:
    """Returns type and mount point of the file system that holds `path`, from /proc/self/mounts."""
    resolved = str(path.resolve())
    best = ("unknown", "/")
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, mount, kind, *_ = line.split()
        mount = mount.encode().decode("unicode_escape")
        if (resolved == mount or resolved.startswith(mount.rstrip("/") + "/")) and len(mount) >= len(best[1]):
            best = (kind, mount)
    return best
