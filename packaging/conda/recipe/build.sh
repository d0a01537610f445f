#!/usr/bin/env bash
# conda-build calls this in the source tree, with PREFIX set and the compilers of the recipe active.
set -eu -o pipefail
# the recipe's copy of a tree has what was built there, for another machine
[ -z "${CONDA_BUILD:-}" ] || rm -rf build target
: "${MPICC:=mpicc}"
export CARGO_HOME=${CARGO_HOME:-$PWD/build/cargo} LIBCLANG_PATH=${LIBCLANG_PATH:-${BUILD_PREFIX:+$BUILD_PREFIX/lib}}
[ -n "$LIBCLANG_PATH" ] || unset LIBCLANG_PATH
make lib preload tool-mpi MPICC="$MPICC"
make install MPICC="$MPICC" PREFIX="$PREFIX"
