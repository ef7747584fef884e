# What a newcomer types. Everything else is `cargo` and `drivelab --help`.
CARGO ?= cargo
# Seconds each fuzzer runs.
FUZZ_SECONDS ?= 60
# Cases that the swarm tries, for at most an hour.
SWARM_CASES ?= 2000
# Where `make install` puts the program; DESTDIR stands before it.
PREFIX ?= /usr/local
# Devices of each kind whose behaviour is planted; one of each takes a quarter of an hour.
DEVICE_CASES ?= 1
# How often a drive goes away in `make soak-drives`; each took some 20 s here.
TIMES ?= 100

.PHONY: help check build install dist test test-all test-user test-drives soak-drives compat needs lint bench bench-peers bench-sim validate models fuzz sections doc clean

help:
	@echo 'make check   build, then find out what the disk under this directory does'
	@echo 'make install   the program, man pages and completions below PREFIX ($(PREFIX))'
	@echo 'make dist    a tar with a static binary, a .deb, their SHA-256 sums, in target/dist'
	@echo 'make test    install what the tests need (Debian, as root), then run them'
	@echo 'make test-all   and once more with MPICH and in the release build'
	@echo 'make test-user  the tests that need neither root nor anything installed'
	@echo 'make test-drives  real drivers in an emulated machine; SET=short_boot for one boot,'
	@echo '             CASES="a case;another" for some'
	@echo 'make soak-drives  drives that are pulled out, reset or lose a path at random moments (TIMES=$(TIMES))'
	@echo 'make bench   measure drivelab against fio; writes docs/BENCHMARKS.md'
	@echo 'make bench-peers  IOR and mdtest under mpirun next to drivelab; writes docs/BENCHMARKS.md'
	@echo 'make bench-sim  how fast simulated time passes; writes docs/SIMULATOR.md'
	@echo 'make validate   simulated drives against theory and figures, studies against known drives; writes docs'
	@echo 'make compat  the lines of other tools: corpora, what is issued next to the tools themselves, mpirun'
	@echo 'make models  every order in which threads can meet where they are synchronised by hand'
	@echo 'make fuzz    what is unsafe under Miri and AddressSanitizer; each parser against'
	@echo '             $(FUZZ_SECONDS) s of nonsense (FUZZ_SECONDS=…)'
	@echo 'make sections  tables of the documents that the program knows, and the lists of tests'
	@echo 'make doc     the documentation of the crates'

# Status 1 is a bad finding about the disk, which is a good answer; more is none.
check: build
	@$(CARGO) run --release --locked --quiet --package drivelab -- check || [ $$? -eq 1 ]

build:
	$(CARGO) build --release --locked

install: build
	@scripts/install-files $${CARGO_TARGET_DIR:-target}/release/drivelab $(DESTDIR)$(PREFIX)
	@echo 'installed below $(DESTDIR)$(PREFIX)'

# Two release builds; CARGO_OPTIONS goes to both.
dist:
	@CARGO=$(CARGO) scripts/make-dist

# The debug build. `make needs` alone installs anything.
test: needs lint
	@CARGO=$(CARGO) scripts/test --workspace
	@scripts/print-unavailable

# What is said of times and percentiles is tested once more in the build that is benchmarked.
IN_RELEASE = --locked --no-fail-fast --release
test-all: test
	@CARGO=$(CARGO) scripts/test-mpich
	$(CARGO) test --package drivelab-core --package drivelab-io --test all $(IN_RELEASE) \
		-- driver_records:: conformance_testbed::
	$(CARGO) test --package drivelab --test alone $(IN_RELEASE) -- stalls:: throttle::
	@scripts/print-unavailable

# No root, nothing installed: what a visitor types.
test-user:
	@CARGO=$(CARGO) scripts/test-user

# Part of `make test` too. CASES: names of cases, with `;` between them; SET: one boot of several.
test-drives: needs
	DRIVES_CASES='$(CASES)' $(CARGO) test --package drivelab --locked --test drives -- $(SET)

soak-drives: needs
	DRIVES_SOAK='$(TIMES)' $(CARGO) test --package drivelab --locked --test drives

# Part of `make test` too.
compat: needs
	$(CARGO) test --package drivelab-compat --locked --no-fail-fast
	$(CARGO) test --package drivelab --locked --no-fail-fast --test all --test alone \
		-- front_fio:: front_fio_beside:: front_fio_plot:: front_issued::

needs:
	@scripts/install-test-needs

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- --deny warnings
	@# The models of `make models` compile; to try them takes longer.
	RUSTFLAGS='--cfg loom' $(CARGO) check --package drivelab-io --lib --profile test --locked \
		--target-dir $${CARGO_TARGET_DIR:-target}/loom

# The name of a single comparison or setting may follow: make bench ONLY=zram
bench: build
	$(CARGO) bench --locked --package drivelab --bench peers -- $(ONLY)

# Builds hpc/ior of a pinned commit in target/ior; without a network nothing is claimed.
bench-peers:
	@mkdir -p target
	@programs=$$(scripts/build-ior target/ior) || \
		{ echo 'bench-peers: nothing was measured, and docs/BENCHMARKS.md is left as it was' >&2; exit 69; }; \
	$(CARGO) bench --locked --package drivelab --bench parallel -- "$$programs" \
		> target/bench-peers.md
	@scripts/write-section docs/BENCHMARKS.md bench-peers < target/bench-peers.md

bench-sim: build
	$(CARGO) bench --locked --package drivelab --bench simulated > target/bench-sim.md
	@scripts/write-section docs/SIMULATOR.md bench-sim < target/bench-sim.md

validate:
	@mkdir -p target
	$(CARGO) run --release --locked --quiet --package drivelab-sim --example validate > target/validate.md
	@scripts/write-section docs/SIMULATOR.md validate < target/validate.md
	$(CARGO) run --release --locked --quiet --package drivelab-sim --example validate -- policies \
		> target/policies.md
	@scripts/write-section docs/SIMULATOR.md policies < target/policies.md
	$(CARGO) run --release --locked --quiet --package drivelab-sim --example validate -- refit > target/refit.md
	@scripts/write-section docs/SIMULATOR.md refit < target/refit.md
	@seed=$${DRIVELAB_SEED:-$$(od -A n -N 4 -t u4 /dev/urandom | tr -d ' ')}; \
		echo "frequencies are counted with DRIVELAB_SEED=$$seed"; \
		DRIVELAB_SEED=$$seed FREQUENCIES=4000 SERIES=1000 $(CARGO) test --release --locked --quiet \
		--package drivelab-stats --test all -- frequencies:: bank:: --nocapture
	$(CARGO) bench --locked --package drivelab --bench studies > target/studies.md
	@scripts/write-section docs/METHODOLOGY.md studies < target/studies.md
	$(CARGO) bench --locked --package drivelab --bench swarm -- --cases $(SWARM_CASES) > target/swarm.md; \
		status=$$?; scripts/write-section docs/METHODOLOGY.md swarm < target/swarm.md && exit $$status
	$(CARGO) bench --locked --package drivelab --bench devices -- --cases $(DEVICE_CASES) \
		> target/devices.md; status=$$?; \
		scripts/write-section docs/METHODOLOGY.md devices < target/devices.md && exit $$status

models:
	@scripts/run-models

fuzz:
	@scripts/run-sanitizers
	@scripts/run-fuzzers $(FUZZ_SECONDS)

sections:
	@CARGO=$(CARGO) scripts/write-sections

doc:
	RUSTDOCFLAGS='--deny warnings' $(CARGO) doc --workspace --no-deps --locked

clean:
	$(CARGO) clean
