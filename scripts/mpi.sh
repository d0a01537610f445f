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
# The last line of a test program in which every check held, for grep. It need not begin a line of
# the log: mpirun may write it into the middle of what another process writes to standard error.
# shellcheck disable=SC2034
all_held="[1-9][0-9]* checks, 0 failed"
launch() {
  local ranks=$1
  shift
  timeout "${TEST_TIMEOUT:-120}" "$MPIRUN" -n "$ranks" "$@" </dev/null
}
# Open MPI in shared memory: two copies in place of one out of the sender's memory, which is slow
# without huge pages, and longer eager messages. `tuned` runs what follows it so. Debian's
# mpirun.openmpi goes by the name of OpenRTE; Open MPI 5 calls the component sm, and the single
# copies are a framework of their own.
tunable() { "$MPIRUN" --version 2>&1 | grep -qE "Open MPI|OpenRTE"; }
tuned() {
  if "$MPIRUN" --version 2>&1 | grep -qE "(Open MPI|OpenRTE)\) 4"; then
    OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl_vader_eager_limit=65536 OMPI_MCA_btl_vader_max_send_size=131072 "$@"
  else
    OMPI_MCA_smsc=^cma,xpmem,knem OMPI_MCA_btl_sm_eager_limit=65536 OMPI_MCA_btl_sm_max_send_size=131072 "$@"
  fi
}
