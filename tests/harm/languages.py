"""Programs in languages whose runtime systems have threads, stacks, signals and allocators of their own."""

from __future__ import annotations

from kind import ProgramKind, compiled

JAVA = """import java.nio.file.*; import java.util.stream.*;
public class Main { public static void main(String[] a) throws Exception {
long s = IntStream.range(0, 99999).parallel().asLongStream().sum();
Files.writeString(Path.of("f"), "x".repeat(9999));
Process p = new ProcessBuilder("sh", "-c", "exit 3").start();
try { Object o = null; o.toString(); } catch (NullPointerException e) { s++; }
for (int i = 0; i < 20; i++) { byte[] b = new byte[1 << 20]; s += b[i]; } System.gc();
System.out.println(s + " " + Files.size(Path.of("f")) + " " + p.waitFor()); System.exit(7); } }"""
ERLANG = (
    "S = self(), [spawn(fun() -> S ! I * I end) || I <- lists:seq(1, 99)], "
    'io:format("~p~n", [lists:sum([receive X -> X end || _ <- lists:seq(1, 99)])]), '
    'file:write_file("f", <<"x">>), halt(3).'
)
NODE = """const fs = require("fs"), cp = require("child_process"), w = require("worker_threads");
if (!w.isMainThread) { w.parentPort.postMessage(5); } else {
fs.promises.writeFile("f", "x").then(() => console.log(fs.readFileSync("f", "utf8")));
cp.exec("echo child", (e, out) => console.log(out.trim().length));
new w.Worker(__filename).on("message", m => { process.exitCode = m; }); }"""
COROUTINES = """#include <boost/context/fiber.hpp>
#include <cstdio>
namespace c = boost::context;
int main() { int n = 0;
c::fiber f{[&](c::fiber &&back) { for (int i = 0; i < 5; i++) {
FILE *s = std::fopen("f", "a"); std::fputs("x\\n", s); std::fclose(s); n += i; back = std::move(back).resume(); }
return std::move(back); }};
for (int i = 0; i < 5; i++) f = std::move(f).resume(); std::printf("%d\\n", n); return 2; }"""
OPENMP = """#include <omp.h>
#include <stdio.h>
int main(void) { long s = 0; omp_set_num_threads(4);
for (int i = 0; i < 50; i++) {
#pragma omp parallel for reduction(+ : s) schedule(dynamic)
for (int j = 0; j < 99; j++) s += j; }
#pragma omp parallel
#pragma omp single
for (int j = 0; j < 20; j++)
#pragma omp task
{
#pragma omp atomic
s++; }
printf("%ld\\n", s); return 3; }"""
RUBY = (
    'File.write("f", "x" * 99); t = 4.times.map { |i| Thread.new { (1..999).sum + i } }; puts t.sum(&:value); '
    'fork { exit 3 }; Process.wait; puts $?.exitstatus, `echo shell`; trap("USR1") { puts "caught" }; '
    'Process.kill("USR1", $$); sleep 0.01; exit 6'
)
PHP = (
    'file_put_contents("f", str_repeat("x", 99)); echo filesize("f"), " ", `echo shell`; '
    '$p = proc_open(["sh", "-c", "exit 3"], [], $q); echo proc_close($p), "\\n"; exit(5);'
)
LUA = (
    'local f = io.open("f", "w"); f:setvbuf("full", 64); for i = 1, 99 do f:write(i, "\\n") end; f:close(); '
    "local c = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end); print(c(), c(), c()); "
    'print(io.popen("echo shell"):read("a")); os.exit(4, true)'
)
R = (
    'x <- rnorm(5); write.csv(data.frame(a = 1:99), "f"); cat(sum(read.csv("f")$a), "\\n"); '
    'cat(system("echo shell", intern = TRUE), sum(unlist(parallel::mclapply(1:4, identity))), "\\n"); q(status = 6)'
)

LANGUAGES = (
    ProgramKind("java", f"cat >Main.java <<'END'\n{JAVA}\nEND\njava -XX:-UsePerfData Main.java; echo $?", ("javac",)),
    ProgramKind("erlang", f"HOME=. erl -noshell -eval '{ERLANG}'; echo $?", ("erl",)),
    ProgramKind("node: workers", f"cat >p.js <<'END'\n{NODE}\nEND\nnode p.js | sort; echo $?", ("node",)),
    ProgramKind("ruby", f"ruby -e '{RUBY}'; echo $?", ("ruby",)),
    ProgramKind("php", f"php -r '{PHP}'; echo $?", ("php",)),
    ProgramKind("lua", f"lua5.4 -e '{LUA}'; echo $?", ("lua5.4",)),
    ProgramKind(
        "tcl",
        "echo 'set f [open f w]; puts $f x; close $f; puts [exec echo shell]; exit 3' | tclsh; echo $?",
        ("tclsh",),
    ),
    ProgramKind("r", f"Rscript -e '{R}'; echo $?", ("Rscript",)),
    ProgramKind(
        "guile",
        'HOME=. guile -q -c \'(use-modules (ice-9 threads)) (call-with-output-file "f" (lambda (p) (write 5 p))) '
        "(display (apply + (par-map * (iota 99) (iota 99)))) (newline) (exit 4)'; echo $?",
        ("guile",),
    ),
    ProgramKind(
        "ocaml",
        'echo \'let () = let f = open_out "f" in output_string f "x"; close_out f; '
        "print_int (List.fold_left (+) 0 (List.init 999 Fun.id)); exit 3' >p.ml; ocamlopt -o program p.ml; ./program; "
        "echo $?; rm -f p.o p.cm*",
        ("ocamlopt",),
    ),
    ProgramKind(
        "pascal",
        "printf 'var f: text; i: integer; begin assign(f, %s); rewrite(f); for i := 1 to 99 do writeln(f, i); "
        "close(f); writeln(i); halt(3) end.' \"'f'\" >p.pas; fpc -v0 -oprogram p.pas >/dev/null 2>&1; ./program; "
        "echo $?; rm -f p.o",
        ("fpc",),
    ),
    compiled(
        "d",
        "gdc",
        "p.d",
        "import std.stdio, std.file, std.parallelism;\nint main() { long[99] a; foreach (i, ref x; "
        'taskPool.parallel(a[])) x = i; std.file.write("f", "x"); long s; foreach (x; a) s += x; writeln(s); '
        "return 3; }",
    ),
    compiled(
        "fortran: coarrays",
        "gfortran",
        "p.f90",
        "integer :: a[*]\na = this_image()\nsync all\nopen(9, file='f', access='stream')\nwrite(9) a\n"
        "print *, a[1], num_images()\nend",
        "-fcoarray=single",
    ),
    compiled("boost.context", "g++", "p.cc", COROUTINES, "-lboost_context", ("boost/context/fiber.hpp",)),
    compiled("openmp", "gcc", "p.c", OPENMP, "-fopenmp"),
    ProgramKind(
        "go: without cgo",
        'cat >p.go <<\'END\'\npackage main\nimport ("fmt"; "os"; "os/exec")\nfunc main() {\n'
        'os.WriteFile("f", []byte("x"), 0600)\nout, _ := exec.Command("echo", "child").Output()\n'
        "fmt.Print(string(out))\nos.Exit(4) }\nEND\nGO111MODULE=off CGO_ENABLED=0 LD_PRELOAD= go build -o p p.go; ./p; "
        "echo $?; rm -f p",
        ("go",),
    ),
    compiled(
        "musl: static",
        "musl-gcc -static",
        "p.c",
        '#include <stdio.h>\nint main(void) { FILE *f = fopen("f", "w"); '
        'fputs("x", f); fclose(f); puts("musl"); return 5; }',
    ),
    ProgramKind(
        "sbcl",
        'sbcl --noinform --no-userinit --eval \'(progn (with-open-file (f "f" :direction :output) (write 5 '
        ":stream f)) (print (reduce (function +) (loop repeat 5 collect (length (make-array 99999))))) (gc) "
        "(exit :code 3))'; echo $?",
        ("sbcl",),
    ),
    ProgramKind(
        "prolog",
        "swipl -f none -g 'numlist(1, 99, L), sum_list(L, S), print(S), nl, tell(f), print(S), told, halt(3)'; echo $?",
        ("swipl",),
    ),
)
