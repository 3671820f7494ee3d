"""Kinds of programs: each is a command for a shell, which runs in a folder of its own and prints the same every
time.
"""

from __future__ import annotations

from kind import ProgramKind, compiled, parts, python
from languages import LANGUAGES
from tools import TOOLS

SCRIPTS = (
    ProgramKind("exit code", "echo out; echo err >&2; exit 7"),
    ProgramKind("killed by a signal", "sh -c 'echo before; kill -TERM $$'; echo $?"),
    ProgramKind("pipes", "seq 1000 | sort -rn | head -3 | tr '\\n' ' '"),
    ProgramKind("redirections", "seq 100 >a; sort -n <a >b 2>c; cmp a b && cat b | wc -l"),
    ProgramKind("closed streams", "(echo hidden) >&- 2>/dev/null; (cat <&-) 2>/dev/null; echo end"),
    ProgramKind("full device", "(echo lost >/dev/full) 2>/dev/null; echo $?"),
    ProgramKind("background jobs", 'for i in 1 2 3; do sh -c "echo $i >f$i" & done; wait; cat f1 f2 f3'),
    ProgramKind("traps", "trap 'echo trapped' USR1; kill -USR1 $$; echo end"),
    ProgramKind(
        "bash",
        "f() { local x=$1; ((x > 0)) && { echo $x; f $((x - 1)); }; }; f 5; echo ${BASH_VERSION:+bash}",
        ("bash",),
    ),
    ProgramKind(
        "perl", 'perl -e \'open F, ">f"; print F $_ for 1..100; close F; print -s "f", "\\n"; exit 4\'', ("perl",)
    ),
    ProgramKind(
        "perl forks",
        "perl -e 'for (1..3) { unless (fork) { exit $_ } } 1 while wait > 0; print \"done\\n\"'",
        ("perl",),
    ),
    ProgramKind("awk", "seq 1000 | awk '{ s += $1 } END { print s > \"sum\" }'; cat sum", ("awk",)),
    ProgramKind("sed in place", "seq 9 >f; sed -i s/5/five/ f; cat f", ("sed",)),
    ProgramKind(
        "find and xargs", "mkdir -p d/e; touch d/a d/e/b; find d -type f | sort | xargs -n1 basename", ("find", "xargs")
    ),
    ProgramKind("dd", "dd if=/dev/zero of=f bs=4k count=100 status=none; sha256sum <f", ("dd", "sha256sum")),
    ProgramKind("cp, mv, ln, rm", "echo x >a; cp a b; ln -s b c; mv a d; cat c d; rm b; ls", ("cp", "ln")),
    ProgramKind(
        "tar", "mkdir d; seq 99 >d/f; tar -cf t.tar d; rm -r d; tar -xf t.tar; cat d/f | tail -1; rm t.tar", ("tar",)
    ),
    ProgramKind("gzip", "seq 9999 | gzip -n >f.gz; gzip -dc f.gz | tail -1", ("gzip",)),
    ProgramKind("xz threads", "seq 99999 | xz -T2 >f.xz; xz -dc f.xz | tail -1; rm f.xz", ("xz",)),
    ProgramKind("make", "printf 'all: a b\\na b:\\n\\techo $@ >$@\\n' >Makefile; make -s -j2; cat a b", ("make",)),
    ProgramKind(
        "git",
        "git init -q r; cd r; echo x >f; git add f; git ls-files --stage; git status --short; rm -rf .git",
        ("git",),
    ),
    ProgramKind("timeout", "timeout 0.2 sleep 9; echo $?", ("timeout",)),
    ProgramKind("env and nice", "env X=1 nice -n 1 sh -c 'echo $X'", ("nice",)),
    ProgramKind("vfork of a shell", "sh -c 'exec sh -c \"echo replaced; exit 9\"'; echo $?"),
    ProgramKind("chroot refused", "chroot /nowhere true 2>/dev/null; echo $?", ("chroot",)),
    ProgramKind(
        "static program", "printf 'int main(void){return 6;}' >s.c; gcc -static -o s s.c && ./s; echo $?", ("gcc",)
    ),
    ProgramKind("strace", "strace -o /dev/null sh -c 'echo traced; exit 3'; echo $?", ("strace",)),
)

INTERPRETED = (
    python("files", 'open("f", "w").write("x" * 9999); print(len(open("f").read()))'),
    python(
        "threads",
        "import threading as t; a = [t.Thread(target=sum, args=(range(99999),)) for _ in range(4)]; "
        '[x.start() for x in a]; [x.join() for x in a]; print("done")',
    ),
    python("multiprocessing", 'import multiprocessing as m; print(m.get_context("fork").Pool(2).map(abs, [-1, -2]))'),
    python(
        "asyncio",
        "import asyncio as a; g = lambda: a.gather(*[a.sleep(0.01, i) for i in range(9)]); "
        'w = type("W", (), {"__await__": lambda s: g().__await__()}); '
        "print(a.new_event_loop().run_until_complete(a.sleep(0.01, 5)))",
    ),
    python("subprocess", 'import subprocess as s; print(s.run(["sh", "-c", "echo x; exit 3"], capture_output=True))'),
    python(
        "signals",
        "import signal as s; n = []; s.signal(s.SIGALRM, lambda *a: n.append(1)); "
        "s.setitimer(s.ITIMER_REAL, 0.01, 0.01); \nwhile len(n) < 6: pass\n"
        "s.setitimer(s.ITIMER_REAL, 0); print(len(n) > 5)",
    ),
    python(
        "sqlite",
        'import sqlite3 as q; c = q.connect("d"); c.execute("create table t (x)"); '
        'c.executemany("insert into t values (?)", [(i,) for i in range(99)]); c.commit(); '
        'print(c.execute("select sum(x) from t").fetchone())',
    ),
    python(
        "mmap",
        'import mmap; open("f", "wb").write(bytes(8192)); f = open("f", "r+b"); '
        'm = mmap.mmap(f.fileno(), 0); m[5:9] = b"abcd"; m.flush(); print(open("f", "rb").read()[5:9])',
    ),
    python(
        "sockets",
        'import socket as s; a, b = s.socketpair(); a.sendall(b"x" * 9999); a.close(); '
        'print(sum(len(p) for p in iter(lambda: b.recv(999), b"")))',
    ),
    python(
        "epoll",
        'import select, os; r, w = os.pipe(); e = select.epoll(); e.register(r); os.write(w, b"x"); '
        "print(e.poll(1)[0][1])",
    ),
    python(
        "memfd", 'import os; f = os.memfd_create("m"); os.write(f, b"abc"); os.lseek(f, 0, 0); print(os.read(f, 9))'
    ),
    python(
        "descriptors",
        'import os; f = os.open("f", os.O_RDWR | os.O_CREAT); g = os.dup(f); os.write(g, b"xy"); '
        "os.close(f); print(os.fstat(g).st_size)",
    ),
    python("uncaught error", "raise SystemExit(5)"),
    python("ctypes", "import ctypes; print(ctypes.CDLL(None).abs(-4))"),
    ProgramKind(
        "node", 'node -e \'require("fs").writeFileSync("f", "x"); console.log(1); process.exitCode = 3\'', ("node",)
    ),
)

COMPILED = (
    compiled(
        "c: files",
        "gcc",
        "p.c",
        '#include <stdio.h>\nint main(void){FILE*f=fopen("f","w");fputs("x",f);fclose(f);puts("c");return 2;}',
    ),
    compiled(
        "c: posix_spawn",
        "gcc",
        "p.c",
        "#include <spawn.h>\n#include <stdio.h>\n#include <sys/wait.h>\nextern char**environ;"
        'int main(void){pid_t p;int s;char*a[]={"sh","-c","exit 4",0};posix_spawnp(&p,"sh",0,0,a,environ);'
        'waitpid(p,&s,0);printf("%d\\n",WEXITSTATUS(s));return 0;}',
    ),
    compiled(
        "c: coroutines",
        "gcc",
        "p.c",
        "#include <stdio.h>\n#include <ucontext.h>\nstatic ucontext_t a,b;static char s[16384];"
        'static void f(void){for(int i=0;i<3;i++){printf("%d\\n",i);fflush(stdout);swapcontext(&b,&a);}}'
        "int main(void){getcontext(&b);b.uc_stack.ss_sp=s;b.uc_stack.ss_size=sizeof s;makecontext(&b,f,0);"
        "for(int i=0;i<3;i++)swapcontext(&a,&b);return 0;}",
    ),
    compiled(
        "c++: exceptions in threads",
        "g++",
        "p.cc",
        "#include <iostream>\n#include <stdexcept>\n#include <thread>\n"
        'int main(){int n=0;std::thread t([&]{for(int i=0;i<999;i++)try{throw std::runtime_error("x");}'
        "catch(std::exception&){n++;}});t.join();std::cout<<n<<std::endl;}",
        "-pthread",
    ),
    compiled(
        "fortran",
        "gfortran",
        "p.f90",
        "open(9,file='f')\nwrite(9,*) 1.5\nclose(9)\nopen(9,file='f')\nread(9,*) x\nprint *, x\nstop 3\nend",
    ),
    compiled(
        "rust",
        "rustc",
        "p.rs",
        "fn main(){let h:Vec<_>=(0..4).map(|i|std::thread::spawn(move||i*i)).collect();"
        'let s:i32=h.into_iter().map(|x|x.join().unwrap()).sum();std::fs::write("f","x").unwrap();println!("{}",s);}',
    ),
    ProgramKind(
        "go",
        'cat >p.go <<\'END\'\npackage main\nimport "C"\nimport "fmt"\nfunc main() { c := make(chan int)\n'
        "for i := 0; i < 9; i++ { go func(i int) { c <- i }(i) }\ns := 0\nfor i := 0; i < 9; i++ { s += <-c }\n"
        "fmt.Println(s) }\nEND\nGO111MODULE=off LD_PRELOAD= go build -o p p.go && ./p; rm -f p",
        ("go",),
    ),
    ProgramKind("stacks of 4 KiB", "$PROGRAM contexts", source="sampling_stacks"),
    ProgramKind("alternate stacks", "$PROGRAM own", source="sampling_stacks"),
    ProgramKind("stack overflow handled", "$PROGRAM overflow", source="sampling_stacks"),
    ProgramKind("every traced group", "$PROGRAM; echo $?", source="traced_pairs"),
)

SINGLE = (
    *parts(
        "harm_signals",
        "prof virtual real posix_timers segv segv_jump bus exit_in_handler jump_out_of_writes aborted "
        "killed broken_pipe quit arithmetic abort_handled fetched untouched waits",
    ),
    *parts(
        "harm_processes",
        "vfork_chain vfork_fails clone_vm clone_vm_files clone_files clone_raw daemon_twice limits traced "
        "many_threads main_thread_ends robust_mutex load_often alone no_arguments exit_handlers",
    ),
    *parts("harm_processes", "unshared other_user"),
    # The program changes its root folder, below which no log can be written; the profiler says so on standard error.
    *parts("harm_processes", "in_chroot", " 2>/dev/null; echo $?"),
    *parts(
        "harm_descriptors",
        "close_from close_by_range close_on_exec memory_file executed_memory unnamed_file watched "
        "watches_itself "
        "events faults posix_aio moved_in_kernel handed_over streams other_output",
    ),
    *parts(
        "harm_mapped",
        "sparse replaced moved in_parts many in_handler cut forked odd_files errors scarce by_number in_threads "
        "confined",
    ),
    *parts(
        "harm_rings",
        "closed closed_by_number closed_by_range closed_by_dup closed_by_dup3 copied shared garbage "
        "wrong_positions in_handler changing_table many_rings deep kinds_of_rings left_running",
    ),
    # The child may print before or after the shell learns that the parent ended, so the exit code comes last.
    *parts(
        "harm_rings", "left_to_child", " >out; code=$?; until grep -q d out; do sleep 0.01; done; cat out; echo $code"
    ),
    # Three programs of harm_odd are missing from this list: they leave no room for a log, and the profiler prints a
    # message about that (tests/py/test_profiler_odd.py).
    *parts(
        "harm_odd",
        "closed little_stack no_processes handler "
        "cancelled_before threads clone_memory clone_vfork spawn execveat "
        "dlmopen descriptors_gone at_exit small_stack small_stack_link small_stack_stream",
    ),
    # The profiler's counters hold descriptors from 512 on, which these two programs can see.
    *(
        ProgramKind(
            f"descriptors: {name}", f"unset IOLENS_HWPC; $PROGRAM {name}; echo $?", ("gcc",), "harm_descriptors"
        )
        for name in ("close_each", "listed")
    ),
    # The threads of these programs write a different number of bytes in each run, so the file that they write is not
    # compared.
    *parts("harm_odd", "fork_threads cancel cancel_asynchronous", "; echo $?; rm -f odd1.dat"),
    *parts("harm_confined", "tsc tsc_by_number strict filter by_number asked"),
)

KINDS = (*SCRIPTS, *INTERPRETED, *COMPILED, *LANGUAGES, *TOOLS, *SINGLE)
