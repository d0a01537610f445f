# Two commands: `make demo` and `make test`. The MPI is the one whose compiler wrapper MPICC names:
# `MPICC=mpicc.mpich make demo`. Builds for different MPIs stand side by side, in target/<wrapper>
# and build/<wrapper>.

SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
MPICC ?= mpicc
ifeq ($(strip $(MPICC)),)
  override MPICC := mpicc
endif
# a path that serves in every folder, as cargo builds in others; scripts/wrapper.sh has the same
ifneq ($(findstring /,$(MPICC)),)
  override MPICC := $(abspath $(MPICC))
endif
# what goes by another name where the wrapper goes by mpicc; nothing where it has another name
BESIDE := $(patsubst ./%,%,$(dir $(MPICC)))
SIBLING = $(if $(findstring mpicc,$(notdir $(MPICC))),$(BESIDE)$(subst mpicc,$1,$(notdir $(MPICC))))
# a wrapper of C takes C++ too, but not Fortran
MPICXX ?= $(or $(call SIBLING,mpicxx),$(MPICC))
MPIRUN ?= $(or $(call SIBLING,mpirun),$(BESIDE)mpirun)
MPIFC ?= $(call SIBLING,mpifort)
export MPICC MPIRUN
# where `make install` puts things: PREFIX, and below it (LIBDIR=lib64, say)
PREFIX ?= /usr/local
LIBDIR ?= lib
INCLUDEDIR ?= include
BINDIR ?= bin
DATADIR ?= share
DESTDIR ?=
# how long `make fuzz` goes on
SECONDS ?= 3600

VERSION := $(shell scripts/version)
MAJOR := $(word 1,$(subst ., ,$(VERSION)))
KEY := $(subst /,-,$(patsubst /%,%,$(MPICC)))
TARGET := target/$(KEY)
OUT := build/$(KEY)
BUILT := $(TARGET)/release
OPENMPI := MPICC=mpicc.openmpi MPICXX=mpicxx.openmpi MPIRUN=mpirun.openmpi MPIFC=mpifort.openmpi
MPICH := MPICC=mpicc.mpich MPICXX=mpicxx.mpich MPIRUN=mpirun.mpich MPIFC=mpifort.mpich
# the MPI-5 standard ABI, of the MPI that MPI_ABI names
ABI := MPICC=$(CURDIR)/scripts/abi/mpicc MPIRUN=$(CURDIR)/scripts/abi/mpirun

LIB := $(BUILT)/libmpix_neighbor.so
PRELOAD := $(BUILT)/libmpix_neighbor_preload.so
FORTRAN_LIB := $(BUILT)/libmpix_neighbor_fortran.so
TOOL := $(OUT)/mpix-neighbor
HEADER := include/mpix_neighbor.h
RUST_SOURCES := Cargo.toml Cargo.lock build.rs $(shell find src -type f)
PRELOAD_SOURCES := preload/Cargo.toml preload/build.rs $(shell find preload/src -type f)

CARGO_BUILD := cargo build --release --locked
CLIPPY := cargo clippy --quiet --locked --all-targets
CARGO_TEST := cargo test --quiet --locked
# the pure half: what needs no MPI
PURE := --no-default-features --target-dir target/pure
PURE_PACKAGES := $(PURE) --package mpix-neighbor --package mpix-neighbor-bindings --package mpix-neighbor-benches \
  --features mpix-neighbor/tool
STRICT := -- -D warnings

# a warning stops tests, and no installation: other compilers have other warnings
WERROR := -Werror
# gcc takes the constant MPI_UNWEIGHTED of Open MPI for an array of no bytes
CFLAGS = -std=c11 -O2 -g -Wall -Wextra $(WERROR) -Wno-stringop-overread -Wno-stringop-overflow \
  -Wno-array-bounds -Iinclude
LINK := -L$(BUILT) -lmpix_neighbor -Wl,-rpath,'$$ORIGIN/../../$(BUILT)'
FFLAGS = -std=f2018 -O2 -g -Wall -Wextra -Wpedantic $(WERROR)
FORTRAN_LINK := -L$(BUILT) -lmpix_neighbor_fortran $(LINK)
# a wrapper may have no compiler behind it
WITH_FORTRAN = $(if $(MPIFC),$(shell $(MPIFC) --version >/dev/null 2>&1 && echo yes))

# from the table, and those that a script drives
C_TESTS := $(sort $(shell sed 's/|.*//; /^\#/d' c_tests/table)) crash_peer dead fuzz leaks statistics
FORTRAN_SOURCES := $(basename $(notdir $(wildcard c_tests/fortran/*.F90)))
FORTRAN_TESTS := $(foreach t,$(FORTRAN_SOURCES),fortran_$t.f08 fortran_$t.mpi) fortran_mpif
PRELOAD_TESTS := neighbor again requests threads alltoallv quiet passed errors device ends
PRELOAD_FORTRAN = $(if $(WITH_FORTRAN),fortran_mpif fortran_module fortran_f08)
EXAMPLES := mesh halo3d spmv bfs nbody ghost hpccg components pagerank
BENCHES := exchange rounds dsde persistent overlap fuse sums shm nodes onesided transport setup

.PHONY: all lib preload preloads flavors install-all binaries test-abi test-flavors test-front test-packing test-wrong-mpi python tool tool-mpi fortran header install uninstall dist deb site clean help \
  examples demo c-programs fortran-tests preload-programs \
  check check-builds test test-rest test-distributed abi-builds python-environments test-pure test-rust test-model test-miri test-tsan test-tsan-c test-unit test-builds \
  test-install test-c test-preload c-tests fuzz test-mpis test-clients test-packages test-stranger test-python test-site test-aarch64 \
  test-simulate \
  bench simulate simulated

# ==== Library

# the same as lib
all: lib

# the C library, shared and static
lib: $(LIB)

# cargo does not see that MPICC names another MPI: one target directory per wrapper
$(LIB): $(RUST_SOURCES) $(OUT)/mpi
	@scripts/deps build
	$(BEGIN)
	$(CARGO_BUILD) --target-dir $(TARGET)
	@ln -sf libmpix_neighbor.so $(BUILT)/libmpix_neighbor.so.$(MAJOR)
	$(END) $@

# which is emptied when the wrapper stands for another MPI than before
.SECONDEXPANSION:
$(OUT)/mpi: $$(shell scripts/stamp $$@ '$(MPICC)') | $(OUT)
	@scripts/deps build
	@scripts/stamp $@ '$(MPICC)' write $(TARGET)

# the compiler behind MPIFC may be another one too
$(OUT)/fortran/mpi: $$(shell scripts/stamp $$@ '$(MPIFC)') | $(OUT)/fortran
	@scripts/stamp $@ '$(MPIFC)' write

# what scripts/stamp prints, which is never there
$(OUT)/mpi.changed $(OUT)/fortran/mpi.changed: ;

# a source that is saved while cargo runs is newer than what cargo makes
BEGIN = @touch $(OUT)/$(@F).begun
END = @touch --reference=$(OUT)/$(@F).begun

# what takes over the neighborhood collectives of unmodified programs
preload: $(PRELOAD)

$(PRELOAD): $(RUST_SOURCES) $(PRELOAD_SOURCES) $(OUT)/mpi | $(LIB)
	$(BEGIN)
	$(CARGO_BUILD) --package mpix-neighbor-preload --target-dir $(TARGET)
	$(END) $@

# the preload libraries of Debian's two MPIs
preloads:
	@$(MAKE) preload $(OPENMPI)
	@$(MAKE) preload $(MPICH)

# one libmpix_neighbor.so and one preload library for all MPIs, in build/flavors
flavors:
	@MPICC=cc scripts/deps flavors
	@scripts/front build/flavors

# the wheel of the Python package, with the libraries inside
python:
	@scripts/deps python
	scripts/python build/python

# TOOL_PROFILE: variables for cargo. `test` builds a tool that is only packed and unpacked without
# optimization, and removes its link at the end.

# the command-line tool, which needs no MPI
tool:
	$(TOOL_PROFILE) $(CARGO_BUILD) --no-default-features --features tool --target-dir target/tool
	@mkdir -p build
	@ln -sf ../target/tool/release/mpix-neighbor build/mpix-neighbor

# the same with what measures the machine, for the MPI behind MPICC
tool-mpi: $(TOOL)

$(TOOL): $(RUST_SOURCES) $(OUT)/mpi
	@scripts/deps build
	$(BEGIN)
	$(CARGO_BUILD) --features tool --bin mpix-neighbor --target-dir $(TARGET)
	@ln -sf ../../$(TARGET)/release/mpix-neighbor $@
	$(END) $@

# the Fortran module and what stands behind it, for the compiler behind MPIFC
fortran: $(FORTRAN_LIB)
fortran install: WERROR :=

FORTRAN_OBJECTS := $(addprefix $(OUT)/fortran/,convert.o glue.o mpix_neighbor.o sentinels.o)

$(OUT)/fortran/%.o: fortran/%.c fortran/convert.h $(HEADER) $(OUT)/mpi | $(OUT)/fortran
	@$(MPICC) $(CFLAGS) -fPIC -fvisibility=hidden -c $< -o $@

# mpix_neighbor.f90 also makes the module's file
$(OUT)/fortran/%.o: fortran/%.f90 $(OUT)/mpi $(OUT)/fortran/mpi
	@$(or $(MPIFC),$(error MPIFC names no Fortran wrapper for $(MPICC))) $(FFLAGS) -Wno-c-binding-type -fPIC -J$(OUT)/fortran -c $< -o $@

$(FORTRAN_LIB): $(FORTRAN_OBJECTS) $(LIB)
	@echo $(MPIFC) fortran
	@$(MPIFC) -shared -Wl,-soname,libmpix_neighbor_fortran.so.$(MAJOR) -Wl,-rpath,'$$ORIGIN' $(FORTRAN_OBJECTS) -o $@ \
	  -L$(BUILT) -lmpix_neighbor
	@ln -sf libmpix_neighbor_fortran.so $@.$(MAJOR)

# what bindings/functions.toml makes: entry points, header, Fortran module, pages
header:
	cargo run --quiet --locked --package mpix-neighbor-bindings --target-dir target/pure

# the static library that is installed
$(OUT)/libmpix_neighbor.a: $(LIB) scripts/archive | $(OUT)
	@scripts/static-libs >$(OUT)/static-libs
	scripts/archive $(BUILT)/libmpix_neighbor.a $(LIB) $@

INSTALLING = PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' INCLUDEDIR='$(INCLUDEDIR)' BINDIR='$(BINDIR)' \
  DATADIR='$(DATADIR)' DESTDIR='$(DESTDIR)' BUILT=$(BUILT) OUT=$(OUT) VERSION=$(VERSION) \
  MPIFC='$(MPIFC)' WITH_FORTRAN='$(WITH_FORTRAN)' scripts/install

# libraries, header, module, CMake and pkg-config files, tool, docs, below PREFIX
install: $(LIB) $(OUT)/libmpix_neighbor.a $(PRELOAD) $(if $(WITH_FORTRAN),$(FORTRAN_LIB)) $(TOOL)
	@$(INSTALLING) install

# the same with one library and one preload library for all MPIs; no static one
install-all: flavors tool
	@$(INSTALLING) install-all

# a tarball of that, to be unpacked anywhere
binaries:
	@scripts/binaries

# removes exactly what was installed below PREFIX
uninstall:
	@$(INSTALLING) uninstall

# a source tarball that builds without network, with MPI bindings
dist:
	@scripts/dist

# Debian packages for both of Debian's MPIs, in build/deb
deb:
	@scripts/deb

# the documentation as a site, in build/site; a link that leads nowhere is an error
site:
	@scripts/site

# removes what was built
clean:
	rm -rf build target

# this list
help:
	@scripts/help Makefile

# ==== Programs

$(OUT) $(OUT)/fortran $(OUT)/drivers:
	@mkdir -p $@

# with a file that names the headers of the program, which are its prerequisites from then on; none
# of them, nor the source, need be there any more
COMPILE = @echo $(MPICC) $< && build() { $(MPICC) $(CFLAGS) -MMD -MP -MF $@.d -MT $@ "$$@" && echo '$<:' >>$@.d; } && build
include $(wildcard $(OUT)/*.d)
COMPILE_FORTRAN = @echo $(MPIFC) $(MODULE) $< && mkdir -p $@.modules && \
  $(MPIFC) $(FFLAGS) $(MODULE) -I$(OUT)/fortran -J$@.modules

$(OUT)/%: c_tests/c/%.c $(HEADER) $(LIB) | $(OUT)
	$(COMPILE) $< -o $@ $(LINK)

$(OUT)/%: c_tests/faults/%.c $(HEADER) $(LIB) | $(OUT)
	$(COMPILE) -Ic_tests/c $< -o $@ $(LINK)

$(OUT)/%: examples/%.c $(HEADER) $(LIB) | $(OUT)
	$(COMPILE) $< -o $@ $(LINK) $(if $(findstring metis.h,$(shell cat $<)),-lmetis) -lm

$(OUT)/%: benches/%.c $(HEADER) $(LIB) | $(OUT)
	$(COMPILE) $< -o $@ $(LINK) -lm

# memory of the simulator
$(OUT)/memory.so: scripts/smpi/memory.c | $(OUT)
	$(CC) -O2 -Wall -Wextra -fPIC -shared $< -o $@

# what a call costs through the front
$(OUT)/front: benches/front.c $(OUT)/mpi
	$(COMPILE) $< -o $@ -ldl

# what a call costs that passes through
$(OUT)/passthrough: benches/passthrough.c $(OUT)/mpi
	$(COMPILE) $< -o $@

# each Fortran test for module mpi_f08 and for module mpi
$(OUT)/fortran_%.f08: MODULE = -DF08
$(OUT)/fortran_%.f08: c_tests/fortran/%.F90 c_tests/fortran/test.h $(FORTRAN_LIB)
	$(COMPILE_FORTRAN) $< -o $@ $(FORTRAN_LINK)

$(OUT)/fortran_%.mpi: c_tests/fortran/%.F90 c_tests/fortran/test.h $(FORTRAN_LIB)
	$(COMPILE_FORTRAN) $< -o $@ $(FORTRAN_LINK)

$(OUT)/halo2d: examples/halo2d.f90 $(FORTRAN_LIB)
	$(COMPILE_FORTRAN) $< -o $@ $(FORTRAN_LINK)

# mpif.h is of the language's older kind
$(OUT)/fortran_mpif: c_tests/fortran/mpif.f $(FORTRAN_LIB)
	@echo $(MPIFC) $<
	@$(MPIFC) -std=legacy -O2 -g -Wall -Werror -I$(OUT)/fortran $< -o $@ $(FORTRAN_LINK)

# not linked to the library
$(OUT)/preload_%: c_tests/preload/%.c $(OUT)/mpi
	$(COMPILE) -Ic_tests/c -pthread $< -o $@

$(OUT)/libpreload_tool.so: c_tests/preload/tool.c $(OUT)/mpi
	@$(MPICC) $(CFLAGS) -shared -fPIC $< -o $@

# one source for all three ways to MPI; mpif.h passes buffers of different types to one procedure
PERSISTENT = $(shell $(MPICC) -E -dM -include mpi.h -x c /dev/null | grep -q 'define MPI_VERSION 4' || echo -DMPIX_INIT)
$(OUT)/preload_fortran_%: c_tests/preload/fortran.F90 $(OUT)/mpi $(OUT)/fortran/mpi
	@echo $(MPIFC) $< for $*
	@$(MPIFC) -O1 -g -cpp -ffree-line-length-none -fallow-argument-mismatch -w \
	  -D$(shell echo $* | tr a-z A-Z) $(PERSISTENT) $< -o $@

# device memory without a device: stand-ins for the drivers, and what makes the MPI take their
# memory
DRIVERS := $(addprefix $(OUT)/drivers/,libcuda.so.1 libamdhip64.so.5 libamdhip64.so.6)
$(OUT)/drivers/libcuda.so.1: DRIVER =
$(OUT)/drivers/libamdhip64.so.5: DRIVER = -DHIP_VERSION=5
$(OUT)/drivers/libamdhip64.so.6: DRIVER = -DHIP_VERSION=6

$(DRIVERS): c_tests/c/device/driver.c $(OUT)/mpi | $(OUT)/drivers
	@$(MPICC) $(CFLAGS) $(DRIVER) -shared -fPIC $< -o $@

$(OUT)/libdevice_mpi.so: c_tests/c/device/mpi.c $(OUT)/mpi
	@$(MPICC) $(CFLAGS) -shared -fPIC $< -o $@ -ldl

$(OUT)/preload_device $(OUT)/device: $(OUT)/libdevice_mpi.so $(DRIVERS)
$(OUT)/device: LINK = -L$(BUILT) -L$(OUT) -ldevice_mpi -lmpix_neighbor -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../../$(BUILT)' -ldl

# the example programs
examples: $(addprefix $(OUT)/,$(EXAMPLES))

# two programs on real input, each compared with a serial run
demo:
	@scripts/deps demo
	@$(MAKE) $(OUT)/mesh $(OUT)/halo3d
	@scripts/demo

# the programs of the C tests
c-programs: $(addprefix $(OUT)/,$(C_TESTS)) $(OUT)/libyield.so

# makes processes of MPICH give up the core while they wait
$(OUT)/libyield.so: c_tests/yield.c | $(OUT)
	@$(CC) $(CFLAGS) -shared -fPIC $< -o $@ -ldl

# the Fortran test programs
fortran-tests: $(addprefix $(OUT)/,$(FORTRAN_TESTS) halo2d)

# the test programs of the preload library, which do not know of it
preload-programs: $(addprefix $(OUT)/preload_,$(PRELOAD_TESTS) $(PRELOAD_FORTRAN)) $(OUT)/libpreload_tool.so

# ==== Tests

# to run all day: few cases of each property; one MPI, few processes
check: export PROPTEST_CASES := 64
check:
	@scripts/deps test
	@$(MAKE) -j2 test-pure check-builds
	c_tests/names $(LIB)
	c_tests/run --quick
	@echo "make check: all passed"

# what check builds for an MPI, and the warnings there
check-builds: c-programs
	$(CLIPPY) --release --target-dir $(TARGET) $(STRICT)

# a script that calls make, beside other jobs of this one: they share no limit
APART := MAKEFLAGS=

# everything, on Open MPI and on MPICH
test: export CARGO_INCREMENTAL := 0
test: export TOOL_PROFILE := CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=0 \
  CARGO_PROFILE_RELEASE_DEBUG=0
test:
	@scripts/deps test
	@$(MAKE) -j2 test-pure test-model test-builds-openmpi test-builds-mpich test-unit-openmpi test-install-openmpi test-install-mpich
	@# one after the other, also under make -j
	@$(MAKE) -j1 test-c test-preload $(OPENMPI)
	@$(MAKE) -j1 test-c test-preload $(MPICH)
	@$(MAKE) test-rest
	@rm -f build/mpix-neighbor
	@echo "make test: all passed"

# a simulation, tarball and packages, the site, the wrong MPI, programs of others, Python; side by
# side what keeps one core and measures no time, first what fetches the MPI that Python needs, too
test-rest:
	@$(MAKE) -j2 abi-builds test-simulate test-distributed tool python-environments test-site test-wrong-mpi test-packing
	@$(MAKE) -j1 test-abi test-front
	clients/run quick
	@$(MAKE) test-python

# tarball and packages
test-distributed:
	$(APART) c_tests/dist
	@$(MAKE) test-packages

# programs under another MPI than the library's, both of which must be built; and a compiler wrapper
# that stands for another MPI than before
test-wrong-mpi:
	c_tests/faults/wrong-mpi
	$(APART) c_tests/wrappers

# the libraries for the MPI-5 standard ABI, which test-abi and test-flavors need
abi-builds:
	@scripts/deps test-mpis
	@if scripts/mpi-package mpich >/dev/null; then $(MAKE) lib preload $(ABI); fi

# test-pure and test-model; tests of one keep one core while the other compiles
test-rust:
	@$(MAKE) -j2 test-pure test-model

# formatting; warnings, tests and documentation of what needs no MPI
test-pure:
	cargo fmt --check
	$(CLIPPY) $(PURE_PACKAGES) $(STRICT)
	$(CARGO_TEST) $(PURE_PACKAGES)
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps $(PURE)

# the protocol of shared memory in all orders that the memory model allows (loom)
test-model:
	RUSTFLAGS="--cfg loom" CARGO_PROFILE_TEST_OPT_LEVEL=0 $(CARGO_TEST) --no-default-features --target-dir target/loom --lib -- \
	  shm::ring::model shm::double_buffer:: shm::board::

# the same protocol with threads, under Miri; needs nightly Rust
test-miri:
	@scripts/test-nightly miri

# the same protocol with threads, under ThreadSanitizer; needs nightly Rust
test-tsan:
	@scripts/test-nightly tsan

# library and a C program with threads, under ThreadSanitizer, for one MPI
test-tsan-c:
	c_tests/tsan

# rooms whose tests test-pure runs
PURE_ROOMS := error:: util:: topology:: schedule:: model:: select::

# unit tests of the modules that are built for an MPI, without a call of it
test-unit: $(OUT)/mpi
	@scripts/deps build
	CARGO_PROFILE_TEST_OPT_LEVEL=0 $(CARGO_TEST) --lib --target-dir $(TARGET) -- $(addprefix --skip ,$(PURE_ROOMS))

TEST_BUILDS := lib c-programs examples fortran-tests preload preload-programs tool-mpi $(OUT)/nodes

# builds what test-c and test-preload run, for one MPI
test-builds:
	@$(MAKE) $(OUT)/together
	@$(MAKE) $(TEST_BUILDS)
	$(CLIPPY) --release --target-dir $(TARGET) $(STRICT)
	$(CLIPPY) --release --package mpix-neighbor-preload --target-dir $(TARGET) $(STRICT)

# a target for Open MPI, as test-builds-openmpi, or for MPICH, to be made side by side with others:
# much of a build keeps one core
%-openmpi:
	@$(MAKE) $* $(OPENMPI)

%-mpich:
	@$(MAKE) $* $(MPICH)

# installs need what is built there; unit tests come after it, as two compilers keep both cores
test-unit-openmpi test-install-openmpi: test-builds-openmpi
test-install-mpich: test-builds-mpich

# library, preload library and tool: cargo compiles the library once, not again for the tool
$(OUT)/together: $(RUST_SOURCES) $(PRELOAD_SOURCES) $(OUT)/mpi
	@scripts/deps build
	$(BEGIN)
	$(CARGO_BUILD) --features tool --package mpix-neighbor --package mpix-neighbor-preload --target-dir $(TARGET)
	@ln -sf libmpix_neighbor.so $(BUILT)/libmpix_neighbor.so.$(MAJOR)
	@ln -sf ../../$(TARGET)/release/mpix-neighbor $(TOOL)
	@touch $@
	$(END) $(LIB) $(PRELOAD) $(TOOL) $@

# what README says of installing, and projects built against what is installed, for one MPI
test-install:
	@$(MAKE) lib preload tool-mpi $(if $(WITH_FORTRAN),fortran)
	$(APART) c_tests/install

# everything else that needs one MPI, but the preload library
test-c:
	@$(MAKE) test-builds
	@MPICXX='$(MPICXX)' scripts/test-c $(LIB) $(FORTRAN_LIB)

# programs that do not know of the library, under the preload library
test-preload:
	@scripts/deps test
	@$(MAKE) preload preload-programs
	c_tests/preload/run

# only the table of C programs
c-tests: c-programs
	c_tests/run

# random cases for an hour, or SECONDS; a case that fails prints how to repeat it
fuzz:
	@scripts/deps test
	@$(MAKE) build/mpicc.openmpi/fuzz $(OPENMPI)
	@$(MAKE) build/mpicc.mpich/fuzz $(MPICH)
	@scripts/fuzz $(SECONDS)

# the table with newer MPIs, from their Python packages
test-mpis:
	@scripts/deps test-mpis
	@scripts/test-mpis

# some of the C tests under the MPI-5 standard ABI, with MPICH 5 from its Python package
test-abi:
	@scripts/deps test-mpis
	@$(ABI) scripts/test-abi

# the library for all MPIs: packed, installed, run under each of them
test-flavors:
	@# one after the other, as both make build/flavors
	@$(MAKE) test-packing
	@$(MAKE) test-front

# the library for all MPIs, run under each of them
test-front: abi-builds
	@scripts/deps test-mpis
	@$(MAKE) flavors
	c_tests/front build/flavors

# the library for all MPIs: what it needs, installed, and packed with the tool
test-packing: abi-builds tool
	@$(MAKE) flavors
	c_tests/needed build/flavors
	$(APART) c_tests/install-all
	$(APART) c_tests/binaries

# all flavors built for aarch64, and run there by an emulator: 10 minutes
test-aarch64:
	c_tests/aarch64

# what test-python fetches and compiles beside the wheel
python-environments:
	$(APART) scripts/test-python environments

# the Python package: its wheel, installed; tests, examples and documentation, on all MPIs
test-python:
	@scripts/deps python
	@scripts/mpi-package mpich >/dev/null || true
	scripts/test-python

# Debian packages of what is built, and what recipes for Spack and conda do
test-packages:
	$(APART) c_tests/deb
	$(APART) $(OPENMPI) c_tests/packages/run

# packages, binaries and wheel in a bare Debian without Rust, by the commands of the documentation
test-stranger:
	c_tests/stranger

# the documentation's site: built without network, its links, and in a browser where there is one
test-site:
	$(APART) c_tests/site/run

# a small simulation, where SimGrid is
test-simulate:
	$(APART) c_tests/simulate

# programs of others, natively and under the preload library
test-clients:
	@scripts/deps test-clients
	@$(MAKE) preloads
	clients/run all

# ==== Measurements

# simulated times on networks of SimGrid, up to 10 minutes
simulate:
	@scripts/deps simulate
	@$(MAKE) simulated
	@scripts/simulate

SIMULATOR := $(CURDIR)/scripts/smpi/mpicc
simulated: export CARGO_PROFILE_RELEASE_LTO := off
simulated: export CARGO_PROFILE_RELEASE_CODEGEN_UNITS := 16
simulated: export CARGO_PROFILE_RELEASE_OPT_LEVEL := 1
simulated: export CARGO_PROFILE_RELEASE_DEBUG := 0
# the program for that; how fast it runs does not matter, as only messages take simulated time
simulated:
	@$(MAKE) $(addprefix build/$(subst /,-,$(patsubst /%,%,$(SIMULATOR)))/,simulate memory.so) MPICC=$(SIMULATOR)

# this library, the MPI's own collectives and messages by hand
bench:
	@scripts/deps bench
	@$(MAKE) preload $(addprefix $(OUT)/,$(BENCHES))
	@scripts/bench
