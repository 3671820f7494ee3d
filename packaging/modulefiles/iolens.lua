-- For Lmod: install as MODULEPATH/iolens/VERSION.lua. Edit `prefix`, and where logs go.
-- With `module load iolens` the commands are there. With IOLENS_SITE=on in the environment before, programs are recorded
-- without a command, as a site's default for all.
local prefix = "/opt/iolens"
local logs = "/scratch/iolens-logs"

whatis("iolens: where a parallel program's I/O time goes")
help([[
iolens run -- mpirun -np 4 ./app    records a program; `man iolens` has the rest.
IOLENS_SITE=on before `module load` preloads the profiler into every MPI program.
]])

conflict("darshan-runtime")
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
append_path("MANPATH", "")
prepend_path("CPATH", pathJoin(prefix, "include"))
prepend_path("XDG_DATA_DIRS", pathJoin(prefix, "share"))
append_path("XDG_DATA_DIRS", "/usr/local/share:/usr/share")
setenv("IOLENS_LIB", pathJoin(prefix, "lib/iolens/lib"))

if os.getenv("IOLENS_SITE") == "on" then
    prepend_path("LD_PRELOAD", pathJoin(prefix, "lib/iolens/lib", "libiolens.so"))
    setenv("IOLENS_LOGPATH", logs)
    setenv("IOLENS_LOG_BY_DATE", "1")
    setenv("IOLENS_NONMPI", "0")
end
