#%Module1.0
# For Environment Modules and Lmod: install as MODULEPATH/iolens/VERSION. Edit `prefix`, and where logs go.
# With `module load iolens` the commands are there. With IOLENS_SITE=on in the environment before, programs are recorded
# without a command, as a site's default for all.
set prefix /opt/iolens
set logs   /scratch/iolens-logs

module-whatis "iolens: where a parallel program's I/O time goes"
proc ModulesHelp { } {
    puts stderr "iolens run -- mpirun -np 4 ./app    records a program; `man iolens` has the rest."
    puts stderr "IOLENS_SITE=on before `module load` preloads the profiler into every MPI program."
}

conflict iolens darshan-runtime
prepend-path PATH             $prefix/bin
prepend-path MANPATH          $prefix/share/man
append-path  MANPATH          {}
prepend-path CPATH            $prefix/include
prepend-path XDG_DATA_DIRS    $prefix/share
append-path  XDG_DATA_DIRS    /usr/local/share:/usr/share
setenv       IOLENS_LIB       $prefix/lib/iolens/lib

if {[info exists ::env(IOLENS_SITE)] && $::env(IOLENS_SITE) eq "on"} {
    prepend-path LD_PRELOAD          $prefix/lib/iolens/lib/libiolens.so
    setenv       IOLENS_LOGPATH      $logs
    setenv       IOLENS_LOG_BY_DATE  1
    setenv       IOLENS_NONMPI       0
}
