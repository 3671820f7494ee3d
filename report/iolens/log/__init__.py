"""From a log file to a Job with pandas frames."""

from iolens.log.container import LogError
from iolens.log.job import Job, ModuleInfo, Mount
from iolens.log.reader import read_log

__all__ = ["Job", "LogError", "ModuleInfo", "Mount", "read_log"]
