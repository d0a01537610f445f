# Two commands: `make demo` and `make test`. The MPI is the one whose compiler wrapper MPICC names:
# `MPICC=mpicc.mpich make demo`. Builds for different MPIs stand side by side, in target/<wrapper>
# and build/<wrapper>.

SHELL := /bin/bash
MPICC ?= mpicc
MPICXX ?= $(subst mpicc,mpicxx,$(MPICC))
MPIRUN ?= $(subst mpicc,mpirun,$(MPICC))
MPIFC ?= $(subst mpicc,mpifort,$(MPICC))
export MPICC MPIRUN
# where `make install` puts things: PREFIX, and below it (LIBDIR=lib64, say)
PREFIX ?= /usr/local
LIBDIR ?= lib
INCLUDEDIR ?= include
BINDIR ?= bin
DATADIR ?= share
DESTDIR ?=

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
MAJOR := $(word 1,$(subst ., ,$(VERSION)))
MINOR := $(word 2,$(subst ., ,$(VERSION)))
KEY := $(subst /,-,$(patsubst /%,%,$(MPICC)))
TARGET := target/$(KEY)
OUT := build/$(KEY)
BUILT := $(TARGET)/release
LIB := $(BUILT)/libmpix_neighbor.so
RUST_SOURCES := Cargo.toml build.rs $(shell find src -type f)
PRELOAD := $(BUILT)/libmpix_neighbor_preload.so
# gcc takes the constant MPI_UNWEIGHTED of Open MPI for an array of no bytes
CFLAGS := -std=c11 -O2 -g -Wall -Wextra -Werror -Wno-stringop-overread -Wno-stringop-overflow -Wno-array-bounds -Iinclude
LINK := -L$(BUILT) -lmpix_neighbor -Wl,-rpath,'$$ORIGIN/../../$(BUILT)'
FFLAGS := -std=f2018 -O2 -g -Wall -Wextra -Wpedantic -Werror
FORTRAN_LIB := $(BUILT)/libmpix_neighbor_fortran.so
FORTRAN_LINK := -L$(BUILT) -lmpix_neighbor_fortran -lmpix_neighbor -Wl,-rpath,'$$ORIGIN/../../$(BUILT)'
# a wrapper may have no compiler behind it
WITH_FORTRAN = $(shell $(MPIFC) --version >/dev/null 2>&1 && echo yes)

C_TESTS := $(sort $(shell sed 's/|.*//; /^\#/d' c_tests/table)) leaks crash_peer statistics fuzz dead
FORTRAN_TESTS := $(foreach t,$(basename $(notdir $(wildcard c_tests/fortran/*.F90))),fortran_$t.f08 fortran_$t.mpi) fortran_mpif
PRELOAD_TESTS := neighbor requests threads alltoallv quiet passed device
PRELOAD_FORTRAN = $(if $(WITH_FORTRAN),fortran_mpif fortran_module fortran_f08)
EXAMPLES := mesh halo3d spmv bfs nbody
BENCHES := exchange rounds dsde persistent overlap fuse shm nodes

.PHONY: all check lib fortran fortran-tests preload preloads test-preload tool tool-mpi demo test test-pure test-rust test-unit test-model test-miri test-tsan test-tsan-c fuzz test-c c-programs c-tests test-mpis test-clients bench header install uninstall dist site help \
  examples clean

# the same as lib
all: lib

# ---- library

# the C library, shared and static
lib: $(LIB)

# cargo does not see that MPICC names another MPI: one target directory per wrapper
$(LIB): $(RUST_SOURCES)
	@scripts/deps build
	cargo build --release --locked --target-dir $(TARGET)
	@ln -sf libmpix_neighbor.so $(BUILT)/libmpix_neighbor.so.$(MAJOR)
	@touch $@

# what takes over the neighborhood collectives of unmodified programs
preload: $(PRELOAD)

$(PRELOAD): $(RUST_SOURCES) preload/Cargo.toml preload/build.rs $(shell find preload/src -type f) | $(LIB)
	cargo build --release --locked --package mpix-neighbor-preload --target-dir $(TARGET)
	@touch $@

# the command-line tool, which needs no MPI
tool:
	cargo build --release --locked --no-default-features --features tool --target-dir target/tool
	@mkdir -p build
	@ln -sf ../target/tool/release/mpix-neighbor build/mpix-neighbor

# the same with what measures the machine, for the MPI behind MPICC
tool-mpi: $(OUT)/mpix-neighbor

$(OUT)/mpix-neighbor: $(RUST_SOURCES)
	@scripts/deps build
	cargo build --release --locked --features tool --bin mpix-neighbor --target-dir $(TARGET)
	@mkdir -p $(OUT)
	@ln -sf ../../$(TARGET)/release/mpix-neighbor $@

# what bindings/functions.toml makes: entry points, C header, Fortran module, reference pages
header:
	cargo run --quiet --locked --package mpix-neighbor-bindings --target-dir target/pure

# the Fortran module and what stands behind it, for the compiler behind MPIFC
fortran: $(FORTRAN_LIB)

$(FORTRAN_LIB): $(wildcard fortran/*) include/mpix_neighbor.h $(LIB)
	@mkdir -p $(OUT)/fortran
	@echo $(MPIFC) fortran
	@for f in convert glue; do $(MPICC) $(CFLAGS) -fPIC -fvisibility=hidden -c fortran/$$f.c -o $(OUT)/fortran/$$f.o || exit 1; done
	@for f in mpix_neighbor sentinels; do \
	  $(MPIFC) $(FFLAGS) -Wno-c-binding-type -fPIC -J$(OUT)/fortran -c fortran/$$f.f90 -o $(OUT)/fortran/$$f.o || exit 1; \
	done
	@$(MPIFC) -shared -Wl,-soname,libmpix_neighbor_fortran.so.$(MAJOR) -Wl,-rpath,'$$ORIGIN' $(OUT)/fortran/*.o -o $@ -L$(BUILT) -lmpix_neighbor
	@ln -sf libmpix_neighbor_fortran.so $@.$(MAJOR)

# the static library that is installed
$(OUT)/libmpix_neighbor.a: $(LIB) scripts/archive
	@mkdir -p $(OUT)
	@scripts/static-libs >$(OUT)/static-libs
	scripts/archive $(BUILT)/libmpix_neighbor.a $(LIB) $@

INSTALLING = PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' INCLUDEDIR='$(INCLUDEDIR)' BINDIR='$(BINDIR)' DATADIR='$(DATADIR)' DESTDIR='$(DESTDIR)' \
  BUILT=$(BUILT) OUT=$(OUT) VERSION=$(VERSION) MPIFC='$(MPIFC)' WITH_FORTRAN='$(WITH_FORTRAN)' scripts/install

# installs libraries, header, Fortran module, CMake and pkg-config files, tool, docs below PREFIX
install: $(LIB) $(OUT)/libmpix_neighbor.a $(PRELOAD) $(if $(WITH_FORTRAN),$(FORTRAN_LIB)) $(OUT)/mpix-neighbor
	@$(INSTALLING) install

# removes exactly what was installed below PREFIX
uninstall:
	@$(INSTALLING) uninstall

# a source tarball that builds without network, with the MPI bindings of this machine's MPIs
dist:
	@scripts/dist

# the documentation as a site, in build/site; a link that leads nowhere is an error
site:
	@scripts/site

# this list
help:
	@awk '/^# / { if (!text) text = substr($$0, 3); next } \
	  /^[a-z][a-z-]*:([^=]|$$)/ { split($$1, t, ":"); printf "  %-14s %s\n", t[1], text } { text = "" }' Makefile | sed 's/\(.\{150\}\).*/\1 .../'
	@echo "The MPI is the one whose compiler wrapper MPICC names: MPICC=mpicc.mpich make lib"

# ---- programs

# not linked to the library
$(OUT)/preload_%: c_tests/preload/%.c c_tests/preload/preload.h
	@mkdir -p $(OUT)
	@echo $(MPICC) $<
	@$(MPICC) $(CFLAGS) -Ic_tests/c -pthread $< -o $@

$(OUT)/libpreload_tool.so: c_tests/preload/tool.c
	@mkdir -p $(OUT)
	@$(MPICC) $(CFLAGS) -shared -fPIC $< -o $@

# one source for all three ways to MPI; mpif.h passes buffers of different types to one procedure
$(OUT)/preload_fortran_%: PERSISTENT = $(shell $(MPICC) -E -dM -include mpi.h -x c /dev/null | grep -q 'define MPI_VERSION 4' || echo -DMPIX_INIT)
$(OUT)/preload_fortran_%: c_tests/preload/fortran.F90
	@mkdir -p $(OUT)
	@echo $(MPIFC) $< for $*
	@$(MPIFC) -O1 -g -cpp -ffree-line-length-none -fallow-argument-mismatch -w -D$(shell echo $* | tr a-z A-Z) $(PERSISTENT) $< -o $@

# what a call costs that passes through
$(OUT)/passthrough: benches/passthrough.c
	@mkdir -p $(OUT)
	@$(MPICC) $(CFLAGS) $< -o $@

# device memory without a device: stand-ins for the drivers, and what makes the MPI take their
# memory
DRIVERS := $(addprefix $(OUT)/drivers/,libcuda.so.1 libamdhip64.so.5 libamdhip64.so.6)
$(OUT)/drivers/libcuda.so.1: DRIVER =
$(OUT)/drivers/libamdhip64.so.5: DRIVER = -DHIP_VERSION=5
$(OUT)/drivers/libamdhip64.so.6: DRIVER = -DHIP_VERSION=6

$(DRIVERS): c_tests/c/device/driver.c
	@mkdir -p $(OUT)/drivers
	@$(MPICC) $(CFLAGS) $(DRIVER) -shared -fPIC $< -o $@

$(OUT)/libdevice_mpi.so: c_tests/c/device/mpi.c
	@mkdir -p $(OUT)
	@$(MPICC) $(CFLAGS) -shared -fPIC $< -o $@ -ldl

$(OUT)/preload_device: c_tests/c/device/device.h $(OUT)/libdevice_mpi.so $(DRIVERS)
$(OUT)/device: c_tests/c/device/device.h $(OUT)/libdevice_mpi.so $(DRIVERS)
$(OUT)/device: LINK = -L$(BUILT) -L$(OUT) -ldevice_mpi -lmpix_neighbor -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../../$(BUILT)' -ldl

$(OUT)/%: c_tests/c/%.c $(wildcard c_tests/c/*.h) include/mpix_neighbor.h $(LIB)
	@mkdir -p $(OUT)
	@echo $(MPICC) $<
	@$(MPICC) $(CFLAGS) $< -o $@ $(LINK)

$(OUT)/%: c_tests/faults/%.c $(wildcard c_tests/c/*.h) include/mpix_neighbor.h $(LIB)
	@mkdir -p $(OUT)
	@echo $(MPICC) $<
	@$(MPICC) $(CFLAGS) -Ic_tests/c $< -o $@ $(LINK)

$(OUT)/%: examples/%.c $(wildcard examples/*.h) include/mpix_neighbor.h $(LIB)
	@mkdir -p $(OUT)
	@echo $(MPICC) $<
	@$(MPICC) $(CFLAGS) $< -o $@ $(LINK) $(if $(findstring metis.h,$(shell cat $<)),-lmetis) -lm

# each Fortran test for module mpi_f08 and for module mpi
$(OUT)/fortran_%.f08: c_tests/fortran/%.F90 c_tests/fortran/test.h $(FORTRAN_LIB)
	@echo $(MPIFC) -DF08 $<
	@mkdir -p $@.modules
	@$(MPIFC) $(FFLAGS) -DF08 -I$(OUT)/fortran -J$@.modules $< -o $@ $(FORTRAN_LINK)

$(OUT)/fortran_%.mpi: c_tests/fortran/%.F90 c_tests/fortran/test.h $(FORTRAN_LIB)
	@echo $(MPIFC) $<
	@mkdir -p $@.modules
	@$(MPIFC) $(FFLAGS) -I$(OUT)/fortran -J$@.modules $< -o $@ $(FORTRAN_LINK)

# mpif.h is of the language's older kind
$(OUT)/fortran_mpif: c_tests/fortran/mpif.f $(FORTRAN_LIB)
	@echo $(MPIFC) $<
	@$(MPIFC) -std=legacy -O2 -g -Wall -Werror -I$(OUT)/fortran $< -o $@ $(FORTRAN_LINK)

$(OUT)/halo2d: examples/halo2d.f90 $(FORTRAN_LIB)
	@echo $(MPIFC) $<
	@mkdir -p $@.modules
	@$(MPIFC) $(FFLAGS) -I$(OUT)/fortran -J$@.modules $< -o $@ $(FORTRAN_LINK)

# the Fortran test programs
fortran-tests: $(addprefix $(OUT)/,$(FORTRAN_TESTS) halo2d)

$(OUT)/%: benches/%.c $(wildcard benches/*.h) include/mpix_neighbor.h $(LIB)
	@mkdir -p $(OUT)
	@echo $(MPICC) $<
	@$(MPICC) $(CFLAGS) $< -o $@ $(LINK) -lm

# the example programs
examples: $(addprefix $(OUT)/,$(EXAMPLES))

# two programs on real input, each compared with a serial run
demo:
	@scripts/deps demo
	@$(MAKE) --no-print-directory $(OUT)/mesh $(OUT)/halo3d
	@scripts/demo

# ---- tests

# what a developer runs all day: one MPI, each line of the table once with few processes
check:
	@scripts/deps test
	@$(MAKE) --no-print-directory test-pure
	cargo clippy --quiet --locked --all-targets --target-dir $(TARGET) -- -D warnings
	@$(MAKE) --no-print-directory c-programs
	c_tests/names $(LIB)
	c_tests/run --quick
	@echo "make check: all passed"

# all tests, on Open MPI and on MPICH
test:
	@scripts/deps test
	@$(MAKE) --no-print-directory test-rust
	@$(MAKE) --no-print-directory test-unit MPICC=mpicc.openmpi
	@$(MAKE) --no-print-directory test-c MPICC=mpicc.openmpi MPICXX=mpicxx.openmpi MPIRUN=mpirun.openmpi
	@$(MAKE) --no-print-directory test-preload MPICC=mpicc.openmpi MPIRUN=mpirun.openmpi
	@$(MAKE) --no-print-directory test-c MPICC=mpicc.mpich MPICXX=mpicxx.mpich MPIRUN=mpirun.mpich
	@$(MAKE) --no-print-directory test-preload MPICC=mpicc.mpich MPIRUN=mpirun.mpich
	c_tests/faults/wrong-mpi
	c_tests/dist
	@$(MAKE) --no-print-directory preloads
	clients/run quick
	@echo "make test: all passed"

# formatting, and warnings and tests of what needs no MPI: the pure half, the tool, the generator
test-pure:
	cargo fmt --check
	cargo clippy --quiet --locked --no-default-features --features tool --all-targets --target-dir target/pure -- -D warnings
	cargo clippy --quiet --locked --package mpix-neighbor-bindings --all-targets --target-dir target/pure -- -D warnings
	cargo test --quiet --locked --no-default-features --features tool --target-dir target/pure
	cargo test --quiet --locked --package mpix-neighbor-bindings --target-dir target/pure

# the same, the documentation, and the model of shared memory
test-rust:
	@$(MAKE) --no-print-directory test-pure
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --no-default-features --target-dir target/pure
	@$(MAKE) --no-print-directory test-model

# the protocol of the rings in shared memory in all orders that the memory model allows
test-model:
	RUSTFLAGS="--cfg loom" cargo test --quiet --locked --no-default-features --target-dir target/loom --lib -- shm::ring::model shm::double_buffer::

# the same protocol with threads, under Miri
# both need parts of a nightly toolchain, and are skipped where these are not there
test-miri:
	@if cargo +nightly miri --version >/dev/null 2>&1; then \
	  MIRIFLAGS=-Zmiri-many-seeds=0..16 cargo +nightly miri test --quiet --locked --no-default-features --target-dir target/miri --lib -- shm::ring; \
	else echo "test-miri: skipped, as there is no Miri (rustup component add miri rust-src --toolchain nightly)"; fi

# the same protocol with threads, under ThreadSanitizer
test-tsan:
	@if [ -d "$$(rustc +nightly --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library" ]; then \
	  RUSTFLAGS=-Zsanitizer=thread cargo +nightly test --quiet --locked --no-default-features -Zbuild-std --target $$(rustc -vV | sed -n 's/^host: //p') \
	    --target-dir target/tsan --lib -- shm::ring; \
	else echo "test-tsan: skipped, as there are no sources of the standard library (rustup component add rust-src --toolchain nightly)"; fi

# the library and a C program with threads under the same, for the MPI behind MPICC; needs no
# nightly toolchain
test-tsan-c:
	c_tests/tsan

# unit tests of the modules that are built for the MPI behind MPICC, without a call of it
test-unit:
	cargo test --quiet --locked --lib --target-dir $(TARGET) -- collective:: mpi:: observe:: sparse:: --skip model::

# everything that needs the MPI behind MPICC
test-c:
	cargo clippy --quiet --locked --all-targets --target-dir $(TARGET) -- -D warnings
	@$(MAKE) --no-print-directory c-programs examples fortran-tests
	$(MPICC) -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -c c_tests/c/header.c -o $(OUT)/header-c.o
	$(MPICXX) -x c++ -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -std=c++17 -Wall -Wextra -Werror -Iinclude -c c_tests/c/header.c -o $(OUT)/header-cxx.o
	c_tests/names $(LIB)
	c_tests/names $(FORTRAN_LIB)
	c_tests/install
	c_tests/leaks
	c_tests/run
	c_tests/fuzz 60
	c_tests/examples
	c_tests/fortran/run
	@$(MAKE) --no-print-directory tool-mpi
	c_tests/docs
	c_tests/faults/crash
	c_tests/faults/dead
	c_tests/faults/privileged
	c_tests/statistics
	c_tests/loggp-tool
	c_tests/sparse-tool
	@$(MAKE) --no-print-directory $(OUT)/nodes
	c_tests/hosts

# the programs of the C tests
c-programs: $(addprefix $(OUT)/,$(C_TESTS))

# programs that do not know of the library, under the preload library
test-preload:
	@scripts/deps test
	@$(MAKE) --no-print-directory preload $(addprefix $(OUT)/preload_,$(PRELOAD_TESTS) $(PRELOAD_FORTRAN)) $(OUT)/libpreload_tool.so
	cargo clippy --quiet --locked --package mpix-neighbor-preload --all-targets --target-dir $(TARGET) -- -D warnings
	c_tests/preload/run

SECONDS ?= 3600
# random cases for an hour, or SECONDS: MPIs and numbers of processes in turn. A case that fails is
# printed with the command that repeats it
fuzz:
	@scripts/deps test
	@$(MAKE) --no-print-directory build/mpicc.openmpi/fuzz MPICC=mpicc.openmpi
	@$(MAKE) --no-print-directory build/mpicc.mpich/fuzz MPICC=mpicc.mpich
	@end=$$(($$(date +%s) + $(SECONDS))); \
	while left=$$((end - $$(date +%s))); [ $$left -gt 0 ]; do \
	  slice=$$((left < 240 ? left / 2 + 1 : 120)); \
	  for mpi in openmpi mpich; do MPICC=mpicc.$$mpi MPIRUN=mpirun.$$mpi c_tests/fuzz $$slice || exit 1; done; \
	done

# only the table
c-tests: c-programs
	c_tests/run

# the same C tests with newer MPIs, from their Python packages
test-mpis:
	@scripts/deps test-mpis
	@scripts/test-mpis

# the preload libraries of Debian's two MPIs
preloads:
	@$(MAKE) --no-print-directory preload MPICC=mpicc.openmpi
	@$(MAKE) --no-print-directory preload MPICC=mpicc.mpich

# programs of others, natively and under the preload library: some of them belong to `make test`
test-clients:
	@scripts/deps test-clients
	@$(MAKE) --no-print-directory preloads
	clients/run all

# ---- measurements

# measures this library, the MPI's own collectives and messages by hand
bench:
	@scripts/deps bench
	@$(MAKE) --no-print-directory $(addprefix $(OUT)/,$(BENCHES))
	@scripts/bench

# removes what was built
clean:
	rm -rf build target
