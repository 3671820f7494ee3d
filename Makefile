# The front door. It only names things: set-up is in packaging/setup.sh, building in the folders' Makefiles, running in `iolens`.
#
#   make run                     from a fresh machine to the comparison PDF
#   make run-class-C NP=4 STRIPES="1 2 4" AGGREGATORS="1 2 4" CB_BUFFER="1M 16M" REPEAT=3
#   make test
#
# Variables of run and run-class-%: NP STRIPES AGGREGATORS CB_BUFFER REPEAT CONFIRM METHOD STEPS DIR RESULTS
# DRIVER (lustre, generic or lustre-like), FULL=1 (solve at every point), SWEEP=0 (only the complete run). Of the other runs: NP STRIPES REPEAT CONFIRM DIR RESULTS,
# and SET="KEY=VALUE ..." for any key of their experiment file. Of all runs: RETRY=1 (failed runs again). Of building: ARCH, the -march= value of the workloads
# (native; empty for any machine of this kind, as `make install` has them), WERROR=1, V=1.

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
# Twice as many test files as cores run side by side, because tests wait for more than half of their time.
TEST_JOBS ?= $(shell n=$$(($$(nproc) * 2)); echo $$((n < 8 ? n : 8)))
export PATH := $(PATH):$(CURDIR)/.venv/bin

option = $(if $($(1)),$(2) "$($(1))")
RETRIED = $(if $(filter 1,$(RETRY)),--retry)
OPTIONS = $(call option,NP,--np) $(call option,STRIPES,--stripes) $(call option,AGGREGATORS,--aggregators) \
          $(call option,CB_BUFFER,--cb-buffer) $(call option,REPEAT,--repeat) $(call option,CONFIRM,--confirm) \
          $(call option,DRIVER,--driver) $(call option,METHOD,--method) $(call option,STEPS,--steps) $(call option,DIR,--dir) $(call option,RESULTS,--results) \
          $(if $(filter 1,$(FULL)),--full) $(if $(filter 0,$(SWEEP)),--no-sweep) $(RETRIED)
comma := ,
empty :=
space := $(empty) $(empty)
yaml_list = [$(subst $(space),$(comma),$(strip $(1)))]
set = $(if $($(1)),--set "$(2)=$($(1))")
CHANGES = $(call set,NP,workload.ranks) $(call set,REPEAT,repetitions) $(call set,CONFIRM,confirm) $(call set,DIR,storage.directory) \
          $(if $(STRIPES),--set "matrix.stripe_count=$(call yaml_list,$(STRIPES))") $(SET:%=--set "%") \
          $(call option,RESULTS,--results) $(call option,DRIVER,--driver) $(RETRIED)
PARTS = profiler storage workloads
IOLENS = .venv/bin/iolens
SPHINX = .venv/bin/python -m sphinx -q -W --keep-going -n -c docs
IMPI_CC = ../.venv/impi/bin/iolens-mpicc

RUNS = $(addprefix run-,ior btio-pnetcdf btio-drivers checkpoint restart collectives pingpong alignment metadata)

.PHONY: help setup build lustre-driver $(PARTS) run $(RUNS) course-tarball setup-test test test-near test-again check types format cephfs-test fuzz harm model advice-hunt why-hunt mutate sanitize bench docs docs-test docs-record docs-links wheel wheel-test wheel-reproducible deb package-test roads release install clean distclean

help: ## list the targets
	@grep -hE '^[a-z%-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z%-]+):.*## (.*)/  make \1\t\2/' | expand -t 24

setup: ## install what is missing on this machine
	@packaging/setup.sh

setup-test: ## install what is missing, with the tools of tests and checks
	@packaging/setup.sh test

# Python compiles a module when it is first imported, but keeps that only where it may write, and not under
# PYTHONDONTWRITEBYTECODE: then every command would compile all that it imports.
build: $(PARTS) ## build the workloads and the libraries into build/
	@.venv/bin/python -m compileall -q report/iolens
	@cmp -s build/bin/iolens .venv/bin/iolens || { install -m 755 build/bin/iolens .venv/bin/.iolens && mv .venv/bin/.iolens .venv/bin/iolens; }

$(PARTS): setup
	@+./packaging/build-part.sh $@ build/obj/$@ $(MAKE) $(if $(V),,-s) -j$(JOBS) -C $@ all

lustre-driver: build ## install Intel MPI, whose ROMIO has the Lustre driver, into .venv/impi, and build for it
	@packaging/setup.sh lustre
	@$(MAKE) $(if $(V),,-s) -j$(JOBS) -C profiler BUILD=../build MPICC=$(IMPI_CC) adapter
	@$(MAKE) $(if $(V),,-s) -j$(JOBS) -C workloads BUILD=../build/impi MPICC=$(IMPI_CC) all >/dev/null

run: build ## run a verified BT-IO, sweep stripes, aggregators and buffer, and write the PDF
	@$(IOLENS) sweep --default $(OPTIONS)

run-class-%: build ## run the same at an NPB class: S W A B C D
	@$(IOLENS) sweep --class $* $(OPTIONS)

run-ior: build ## sweep IOR over interfaces and transfer sizes
	@$(IOLENS) sweep workloads/ior/experiment.yaml $(CHANGES)

run-btio-pnetcdf: build ## sweep BT-IO over four methods of PnetCDF and MPI-IO
	@$(IOLENS) sweep workloads/btio/pnetcdf.yaml $(CHANGES)

run-btio-drivers: build ## sweep BT-IO over stripes and aggregators with ROMIO's Lustre driver, its generic driver, and our own
	@$(IOLENS) sweep workloads/btio/drivers.yaml $(CHANGES)

run-checkpoint: build ## sweep a climate model's checkpoint over writers and ways of gathering
	@$(IOLENS) sweep workloads/checkpoint/checkpoint.yaml $(CHANGES)

run-restart: build ## sweep a climate model's restart over readers and ways of scattering
	@$(IOLENS) sweep workloads/checkpoint/restart.yaml $(CHANGES)

run-collectives: build ## measure the latency of MPI collectives over message sizes: default algorithms against others
	@$(IOLENS) sweep workloads/collectives/experiment.yaml $(CHANGES)

run-pingpong: build ## measure messages between two ranks around the eager limit
	@$(IOLENS) sweep workloads/collectives/pingpong.yaml $(CHANGES)

run-alignment: build ## sweep collective buffering over even, stripe-aligned and stripe-bound file domains
	@$(IOLENS) sweep workloads/alignment/experiment.yaml $(CHANGES)

run-metadata: build ## create, stat, read and remove many small files
	@$(IOLENS) sweep workloads/metadata/experiment.yaml $(CHANGES)

activity-%: build ## run an activity of the course (course/README.md) and check its results
	@$(IOLENS) activity $* $(if $(filter 1,$(FULL)),--full) $(SET:%=--set "%") $(call option,RESULTS,--results) $(call option,LANGUAGE,--language)

course-tarball: ## make the archive for students, build/iolens-course.tar.gz, without tests and solutions
	@git rev-parse --git-dir >/dev/null || { echo "course-tarball: git must list its files; install git, and run this in a clone" >&2; exit 1; }
	@mkdir -p build
	@git ls-files -z -- . ':!tests' ':!.ci' ':!course/*/solution*' ':!course/INSTRUCTOR*' | \
	    tar -czf build/iolens-course.tar.gz --null -T - --transform 's,^,iolens-course/,'
	@echo build/iolens-course.tar.gz

test: setup-test build ## run every test: C, Python, whole systems (TESTS=tests/py: those of one folder)
	@[ ! -x .venv/impi/bin/iolens-mpicc ] || $(MAKE) lustre-driver
	@.venv/bin/python -m pytest -n $(TEST_JOBS) --dist loadfile --no-loadscope-reorder $(TESTS)

test-near: build ## run the tests nearest to what was changed since the last commit, or SINCE another one, in about two minutes
	@.venv/bin/python tests/nearest.py $(SINCE:%=--since %) --jobs $(TEST_JOBS)

test-again: ## run the tests that failed last time again, one at a time
	@.venv/bin/python -m pytest --last-failed --last-failed-no-failures none

check: setup-test ## check style, types, words of texts and commits, and the compiler's warnings, without running programs
	@for part in $(PARTS); do $(MAKE) -s -j$(JOBS) -C $$part BUILD=../build/strict WERROR=1 all >/dev/null || exit 1; done
	@.venv/bin/ruff check -q report tests packaging docs
	@.venv/bin/ruff format -q --check report tests packaging docs
	@.venv/bin/mypy --no-error-summary
	@git ls-files '*.c' '*.h' | xargs .venv/bin/clang-format --dry-run -Werror
	@.venv/bin/python tests/style/plain_words.py
	@.venv/bin/python tests/style/comment_names.py
	@.venv/bin/python tests/style/commits.py

types: setup-test ## check the types with the oldest and the newest NumPy and pandas that are allowed
	@bash tests/types.sh

format: ## format C and Python in place
	@git ls-files '*.c' '*.h' | xargs .venv/bin/clang-format -i
	@.venv/bin/ruff format -q report tests packaging docs

harm: build ## run two hundred kinds of programs with and without the profiler and compare; WORDS="perl git" chooses kinds, SURROUNDINGS=30 SEED=1 runs some behind nohup, make, a terminal …
	@.venv/bin/python $(if $(SURROUNDINGS),tests/harm/surroundings.py $(SURROUNDINGS) $(or $(SEED),1),tests/harm/compare.py $(WORDS))

cephfs-test: build ## start a throw-away CephFS on this machine (root, /dev/fuse, Debian's packages), test on it, and stop it
	@bash tests/system/cephfs.sh test $(or $(CEPHFS),/tmp/iolens-cephfs)

fuzz: build ## read N damaged spools and N / 20 damaged logs (default 100000); see tests/fuzz
	@bash tests/fuzz/fuzz.sh $(or $(N),100000) $(or $(SEED),0)

model: build ## compare the log of N random programs (default 100000, from SEED) with the model of the counters; see tests/model
	@.venv/bin/python tests/model/hunt.py --build build -n $(or $(N),100000) --seed $(or $(SEED),1)

advice-hunt: ## judge N random jobs (default 10000, from SEED on), and look for advice that contradicts itself
	@ADVICE_JOBS=$(or $(N),10000) ADVICE_SEED=$(or $(SEED),1) .venv/bin/python -m pytest -q -k random \
	 tests/py/test_advice_invariants.py tests/py/test_fleet.py

mutate: build ## plant N faults (default 20, drawn from SEED) below ONLY, one at a time, and count how many the nearest tests notice
	@.venv/bin/python tests/mutate.py -n $(or $(N),20) --seed $(or $(SEED),1) --only "$(ONLY)"

why-hunt: ## analyse N random programs of ranks (default 5000, from SEED on), and compare with a simulator of their times
	@WHY_PROGRAMS=$(or $(N),5000) WHY_SEED=$(or $(SEED),1) .venv/bin/python -m pytest -q tests/py/test_why_simulated.py

sanitize: setup ## test the C parts under Address-, UndefinedBehavior- and ThreadSanitizer; takes some minutes
	@bash tests/sanitize.sh

bench: build ## measure the cost of the hot paths, as ratios to other tools
	@for script in tests/bench/*.sh; do echo "== $$script"; bash $$script; done

docs: setup ## make the manual as a site in build/docs, with the outputs and pictures that its pages hold
	@packaging/setup.sh docs
	@.venv/bin/python docs/tools/stage.py build/docs-source
	@$(SPHINX) -b html build/docs-source build/docs
	@echo build/docs/index.html

docs-test: build ## run the commands of all documents (LONG=yes: also those that take minutes; PAGES="tutorial how-to/sweep": of those)
	@.venv/bin/python docs/tools/walk.py build/docs-walk $(if $(LONG),--long) $(PAGES)

docs-record: setup-test build ## run them, and write their outputs and pictures into the pages; on a machine that does nothing else
	@.venv/bin/python docs/tools/walk.py build/docs-walk --record $(PAGES)

docs-links: docs ## check that the manual's links to other sites work; needs a network
	@$(SPHINX) -b linkcheck build/docs-source build/docs-links

wheel: setup ## make the wheel for any Linux of this kind (or ARCH=aarch64) in dist/: package, profiler, adapters
	@ARCH="$(ARCH)" bash packaging/wheel.sh

wheel-test: ## try that wheel in an older and a newer Debian, made for it; as root
	@bash packaging/try-wheel.sh

wheel-reproducible: setup ## check that two clones of the last commit make the same wheel; takes twice the time of make wheel
	@ARCH="$(ARCH)" bash packaging/try-reproducible.sh

deb: setup ## make the Debian package for this release (or SUITE=trixie) in dist/; as root, with debootstrap
	@bash packaging/deb.sh

package-test: deb ## install that package in a Debian made for it, and try it; as root
	@SUITE=$$(bash packaging/deb.sh --suite) bash packaging/try-roads.sh deb

roads: build ## README's commands and every way to install (ROADS="readme clone prefix pip wheel deb docs modules aarch64"), each in a Debian made for it; as root
	@bash packaging/try-roads.sh $(ROADS)

release: setup ## tag this version, or VERSION=1.2.3, with archive, wheel (WHEEL=no: without), .debs (DEB=no), notes and sums in dist/
	@.venv/bin/python packaging/release.py $(VERSION) $(if $(filter no,$(WHEEL)),--no-wheel) $(if $(filter no,$(DEB)),--no-deb)

install: setup profiler storage ## install into PREFIX (default /usr/local), for any machine of this kind; ARCH=native for ones like this
	@$(MAKE) $(if $(V),,-s) -j$(JOBS) -C workloads BUILD=../build/portable ARCH="$(ARCH)" all
	@bash packaging/adapters.sh build/lib build/adapters
	@packaging/install.sh "$(PREFIX)" build build/portable build/adapters

clean: ## remove everything that was built
	@rm -rf build

distclean: clean ## remove .venv and caches too (results/ stays: it is yours)
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache report/*.egg-info
