/* Constants that mpi.h has only as macros, or that differ between MPIs, in a form that Rust can
   link to. */
#include <mpi.h>
#include <stddef.h>

const void *const mpixp_in_place = MPI_IN_PLACE;
const void *const mpixp_bottom = MPI_BOTTOM;

MPI_Datatype mpixp_byte(void) { return MPI_BYTE; }

/* duplicates do not inherit the attribute */
int mpixp_create_keyval(MPI_Comm_delete_attr_function *delete_fn, int *keyval) {
  return MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_fn, keyval, NULL);
}

/* the status of an operation that received no message; the error field only where there are several
   statuses */
int mpixp_empty_status(MPI_Status *status, int with_error) {
  if (status == MPI_STATUS_IGNORE) return MPI_SUCCESS;
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  if (with_error) status->MPI_ERROR = MPI_SUCCESS;
  int code = MPI_Status_set_elements(status, MPI_BYTE, 0);
  return code == MPI_SUCCESS ? MPI_Status_set_cancelled(status, 0) : code;
}

MPI_Status *mpixp_status(MPI_Status *statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

int mpixp_status_error(const MPI_Status *status) { return status->MPI_ERROR; }
void mpixp_set_status_error(MPI_Status *status, int code) { status->MPI_ERROR = code; }
