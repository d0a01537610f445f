# For scripts: how the MPI behind $MPICC is started. Sourced, not run.
: "${MPICC:=mpicc}"
: "${MPIRUN:=${MPICC/mpicc/mpirun}}"
# one build directory per MPI, so that several stand side by side
KEY=$(echo "${MPICC#/}" | tr / -)
OUT=build/$KEY
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# more processes than cores: Open MPI 4, and 5
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export RUST_BACKTRACE=0
launch() {
  local ranks=$1
  shift
  timeout "${TEST_TIMEOUT:-120}" "$MPIRUN" -n "$ranks" "$@" </dev/null
}
