"""Programs of everyday use, and programs that inspect, restrict or start others."""

from __future__ import annotations

from kind import ProgramKind, compiled

LMDB = """#include <lmdb.h>
#include <stdio.h>
int main(void) { MDB_env *e; MDB_txn *t; MDB_dbi d; int n = 5; MDB_val k = {sizeof n, &n}, v = {4, "text"};
mdb_env_create(&e); mdb_env_open(e, "d", MDB_NOSUBDIR, 0600); mdb_txn_begin(e, 0, 0, &t); mdb_dbi_open(t, 0, 0, &d);
for (n = 0; n < 99; n++) mdb_put(t, d, &k, &v, 0);
mdb_txn_commit(t); mdb_txn_begin(e, 0, MDB_RDONLY, &t); n = 7; mdb_get(t, d, &k, &v);
printf("%.4s\\n", (char *)v.mv_data); mdb_txn_abort(t); mdb_env_close(e); return remove("d") | remove("d-lock"); }"""
AUDIT = """#define _GNU_SOURCE
#include <link.h>
#include <string.h>
#include <unistd.h>
unsigned la_version(unsigned v) { return v; }
unsigned la_objopen(struct link_map *m, Lmid_t i, uintptr_t *c) { return LA_FLG_BINDTO | LA_FLG_BINDFROM; }
uintptr_t la_symbind64(Elf64_Sym *s, unsigned n, uintptr_t *r, uintptr_t *d, unsigned *f, const char *name)
{ return s->st_value; }"""
MPI = """#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
static int rank;
static void *talk(void *tag) { int t = *(int *)tag, got = 0, other = 1 - rank;
for (int i = 0; i < 50; i++) MPI_Sendrecv(&i, 1, MPI_INT, other, t, &got, 1, MPI_INT, other, t, MPI_COMM_WORLD,
MPI_STATUS_IGNORE);
return 0; }
int main(int c, char **v) { int level, tag[3] = {1, 2, 3}, sum; pthread_t t[3];
MPI_Init_thread(&c, &v, MPI_THREAD_MULTIPLE, &level); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
if (level == MPI_THREAD_MULTIPLE) {
for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, talk, &tag[i]);
for (int i = 0; i < 3; i++) pthread_join(t[i], 0); }
MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
if (!rank) printf("%d\\n", sum); MPI_Finalize(); return 0; }"""
MPIRUN = (
    "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
    "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_btl_vader_single_copy_mechanism=none "
    "OMPI_MCA_btl=self,vader mpirun -np 2"
)
UNPRIVILEGED = "setpriv --reuid 65534 --regid 65534 --clear-groups"
WRITES = 'int main(void){FILE*f=fopen("f","w");fputs("x",f);fclose(f);puts("out");return 3;}'


def _fio(engine: str) -> ProgramKind:
    options = "--name=a --size=512k --bs=4k --rw=randrw --verify=crc32c --filename=f --thread --iodepth=4 --output=o"
    return ProgramKind(f"fio: {engine}", f"fio {options} --ioengine={engine}; echo $?; rm -f f o *.state", ("fio",))


def _stress(name: str, operations: int) -> ProgramKind:
    return ProgramKind(
        f"stress-ng: {name}",
        f"stress-ng -q --{name} 1 --{name}-ops {operations} --mmap-bytes 1m; echo $?",
        ("stress-ng",),
    )


TOOLS = (
    ProgramKind(
        "gdb",
        f"echo '#include <stdio.h>\n{WRITES}' >p.c; gcc -g -o p p.c; gdb -q -nx -batch -ex 'break main' -ex run "
        "-ex next -ex 'info threads' -ex continue ./p 2>&1 | grep -c 'main\\|exited with code 03'; cat f",
        ("gdb", "gcc"),
    ),
    ProgramKind(
        "strace of threads",
        "strace -f -qq -o /dev/null sh -c 'seq 99 | sort -n | tail -1; exit 3'; echo $?",
        ("strace",),
    ),
    ProgramKind("ltrace", "ltrace -o /dev/null sh -c 'echo traced; exit 3'; echo $?", ("ltrace",)),
    ProgramKind(
        "audited",
        f"cat >a.c <<'END'\n{AUDIT}\nEND\ngcc -shared -fPIC -o a.so a.c; LD_AUDIT=./a.so sh -c "
        "'echo x >f; seq 9 | tail -1; exit 3'; echo $?; rm -f a.so",
        ("gcc",),
    ),
    ProgramKind(
        "setuid", f"{UNPRIVILEGED} umount --version; {UNPRIVILEGED} umount /nowhere 2>&1; echo $?", ("setpriv",)
    ),
    ProgramKind(
        "capabilities of a file",
        f"cp /bin/cat c; setcap cap_net_raw+ep c; echo x >f; chmod 755 . c; {UNPRIVILEGED} ./c f; echo $?; rm -f c",
        ("setpriv", "setcap"),
    ),
    ProgramKind(
        "capabilities dropped", "chmod 777 .; capsh --drop=all -- -c 'echo x >f; cat f; exit 4'; echo $?", ("capsh",)
    ),
    ProgramKind("unshare", "unshare -m -p -f --mount-proc sh -c 'echo $$; echo x >f; exit 3'; echo $?", ("unshare",)),
    ProgramKind(
        "user namespace",
        "unshare -U -r -m sh -c 'id -u; mkdir m; mount -t tmpfs n m && echo x >m/f; ls m'; echo $?",
        ("unshare",),
    ),
    ProgramKind(
        "busybox",
        'busybox sh -c \'for i in 1 2 3; do echo $i; done | busybox awk "{ s += \\$1 } END { print s }"; '
        "busybox seq 99 >f; busybox sed -i s/5/five/ f; exit 3'; echo $?",
        ("busybox",),
    ),
    ProgramKind(
        "dash",
        "dash -c 'exec 3>f; echo x >&3; exec 3>&-; (cat f; exit 3) & wait $!; echo $?; read x <f; echo $x'",
        ("dash",),
    ),
    ProgramKind(
        "mawk",
        'seq 99 | mawk \'{ print > ("f" $1 % 3) } END { close("f0"); "echo sub" | getline x; print x }\'',
        ("mawk",),
    ),
    ProgramKind(
        "gawk",
        'seq 99 | gawk \'{ print |& "sort -r" } END { close("sort -r", "to"); "sort -r" |& getline x; print x }\'',
        ("gawk",),
    ),
    ProgramKind(
        "xargs in parallel", "seq 20 | xargs -P4 -I{} sh -c 'echo {} >f{}'; cat f* | sort -n | tail -1", ("xargs",)
    ),
    ProgramKind(
        "find -exec",
        "mkdir -p a/b/c; touch a/1 a/b/2 a/b/c/3; find a -type f -exec cp {} . \\; ; find . -newer a/1 -delete "
        "2>/dev/null; ls",
        ("find",),
    ),
    ProgramKind(
        "rsync",
        "mkdir a; seq 9999 >a/f; ln -s f a/l; rsync -a a/ b/; echo x >>a/f; rsync -a --delete --checksum a/ b/; "
        "cmp a/f b/f && ls b",
        ("rsync",),
    ),
    ProgramKind(
        "git: commit and repack",
        "export GIT_AUTHOR_DATE='1600000000 +0000' GIT_COMMITTER_DATE='1600000000 +0000' HOME=$PWD; git init -q "
        "r; cd r; "
        "git config user.name a; git config user.email b; for i in 1 2 3; do seq $i >f; git add f; git commit "
        "-qm $i; done; "
        "git repack -adq; git fsck 2>/dev/null; git log --format=%H | head -1; git checkout -qb x HEAD~1; cat "
        "f; cd ..; rm -rf r",
        ("git",),
    ),
    ProgramKind(
        "make in parallel",
        "printf 'all: $(foreach i,1 2 3 4 5 6,f$i)\\nf%%:\\n\\t@sleep 0.01; echo $@ >$@\\n' >Makefile; make -s "
        "-j4 -O; cat f*",
        ("make",),
    ),
    ProgramKind(
        "cpio and zstd",
        "seq 9999 >f; tar -c f | zstd -q -T2 | zstd -dq | tar -t; pigz -p2 -n <f | pigz -d | cmp - f && echo same",
        ("zstd", "pigz"),
    ),
    ProgramKind(
        "sshd -t",
        "ssh-keygen -q -t ed25519 -N '' -f key; /usr/sbin/sshd -t -f /dev/null -h $PWD/key; echo $?; rm -f key*",
        ("ssh-keygen",),
    ),
    ProgramKind(
        "ssh-agent",
        "ssh-keygen -q -t ed25519 -N '' -f key; ssh-agent sh -c 'ssh-add -q key; ssh-add -l | wc -l'; rm -f key*",
        ("ssh-agent",),
    ),
    ProgramKind(
        "screen",
        "export SCREENDIR=$PWD/s; mkdir -m 700 s; screen -D -m sh -c 'echo inside >f; tty >/dev/null && echo "
        "tty >>f'; cat f; rm -rf s",
        ("screen",),
    ),
    ProgramKind(
        "expect",
        'expect -c \'log_user 0; spawn sh -c {read x; echo got $x >f; exit 5}; send "word\\r"; expect eof; '
        "puts [lindex [wait] 3]'; cat f",
        ("expect",),
    ),
    ProgramKind(
        "script", "script -qec 'tty >/dev/null && echo x >f; exit 3' /dev/null </dev/null; echo $?; cat f", ("script",)
    ),
    ProgramKind(
        "tmux",
        "export TMUX_TMPDIR=$PWD; tmux -L t -f /dev/null new-session -d 'echo inside >f'; i=0; until [ -s f ] "
        "|| [ $i -ge 200 ]; do "
        "i=$((i + 1)); sleep 0.05; done; cat f; tmux -L t kill-server 2>/dev/null; rm -rf tmux-*",
        ("tmux",),
    ),
    ProgramKind(
        "flock",
        "for i in 1 2 3 4; do flock l sh -c 'n=$(cat f 2>/dev/null); echo $((n + 1)) >f' & done; wait; cat f",
        ("flock",),
    ),
    ProgramKind(
        "coproc of bash",
        "bash -c 'coproc cat; echo x >&${COPROC[1]}; read y <&${COPROC[0]}; echo $y; kill $COPROC_PID; "
        "cat <(echo p) | tee >(cat >f) >/dev/null; sleep 0.1; cat f'",
        ("bash",),
    ),
    ProgramKind(
        "sqlite in a mapping",
        "sqlite3 d 'pragma mmap_size=1048576; pragma journal_mode=wal; create table t(x); insert into t "
        "values (1),(2); select sum(x) from t; vacuum;'; rm -f d*",
        ("sqlite3",),
    ),
    compiled("lmdb", "gcc", "p.c", LMDB, "-llmdb", ("lmdb.h",)),
    ProgramKind(
        "initdb",
        "chmod 777 .; setpriv --reuid 65534 --regid 65534 --clear-groups initdb -D d -N -A trust -E UTF8 --no-locale "
        ">o 2>&1; echo $?; ls d 2>/dev/null | wc -l; echo 'select 6 * 7' | setpriv --reuid 65534 --regid 65534 "
        "--clear-groups "
        "/usr/lib/postgresql/15/bin/postgres --single -D d postgres 2>/dev/null | grep -c 42; rm -rf d o",
        ("initdb", "setpriv"),
    ),
    *(_fio(engine) for engine in ("psync", "libaio", "posixaio", "mmap", "io_uring", "splice")),
    *(
        _stress(name, operations)
        for name, operations in (
            ("fork", 50),
            ("vfork", 50),
            ("clone", 20),
            ("sigsegv", 99),
            ("timer", 50),
            ("itimer", 50),
            ("mmap", 1),
            ("futex", 99),
            ("pthread", 50),
            ("context", 500),
            ("stack", 1),
            ("sigq", 99),
            ("fault", 50),
            ("dup", 50),
            ("close", 50),
            ("exec", 20),
            ("memfd", 2),
            ("io-uring", 50),
            ("aio", 50),
            ("rseq", 500),
            ("sigfpe", 50),
            ("zombie", 20),
        )
    ),
    ProgramKind(
        "mpi: threads",
        f"cat >p.c <<'END'\n{MPI}\nEND\nLD_PRELOAD= mpicc -o p p.c && {MPIRUN} ./p 2>&1; echo $?; rm -f p",
        ("mpicc", "mpirun"),
        adapter="openmpi",
    ),
)
