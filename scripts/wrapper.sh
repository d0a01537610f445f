# For scripts: the names that follow from the compiler wrapper $MPICC, as in the Makefile. Sourced,
# not run.
# a path that serves in every folder
case $MPICC in */*) MPICC=$(realpath -ms "$MPICC") ;; esac
# one build directory per MPI, so that several stand side by side
KEY=$(echo "${MPICC#/}" | tr / -)
# sibling NAME [WRAPPER]: what goes by NAME where the wrapper ($MPICC) goes by mpicc, as
# mpirun.openmpi; nothing where it has another name
sibling() {
  local wrapper=${2:-$MPICC}
  local file=${wrapper##*/}
  case $file in *mpicc*) echo "${wrapper%"$file"}${file//mpicc/$1}" ;; esac
}
