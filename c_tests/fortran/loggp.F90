! Parameters of the machine.
#include "test.h"

program loggp
  use, intrinsic :: iso_c_binding
  use test
  implicit none
  type(MPIX_Loggp) :: have, measured
  HANDLE(MPI_Info) :: info
  HANDLE(MPI_Comm) :: comm
  integer :: ierror
  call start()
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
  call MPIX_Loggp_set(MPIX_Loggp(latency=5.0_c_double, send_overhead=1.5_c_double, recv_overhead=2.5_c_double, &
      gap=3.0_c_double, gap_per_byte=0.25_c_double, eager=4096, deviation=0.125_c_double), comm, ierror)
  call ok(ierror, 'set')
  call MPIX_Loggp_get(comm, have, ierror)
  call ok(ierror, 'get')
  call equal(nint(8 * [have%latency, have%send_overhead, have%recv_overhead, have%gap, have%gap_per_byte, have%deviation]), &
      [40, 12, 20, 24, 2, 1], 'eighths of microseconds')
  call check(have%eager == 4096, 'eager', int(have%eager), 4096)
  have%eager = MPIX_LOGGP_UNLIMITED
  call MPIX_Loggp_set(have, comm)
  have%eager = 1
  call MPIX_Loggp_get(comm, have)
  call check(have%eager == MPIX_LOGGP_UNLIMITED, 'unlimited', int(have%eager), MPIX_LOGGP_UNLIMITED)
  have%gap = -1
  call MPIX_Loggp_set(have, MPI_COMM_WORLD, ierror)
  call fails(ierror, MPI_ERR_ARG, 'MPIX_Loggp_set')
  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, 'mpix_loggp_seconds', '0.01', ierror)
  call MPI_Info_set(info, 'mpix_loggp_bytes', '4096', ierror)
  measured = MPIX_Loggp(-1, -1, -1, -1, -1, -7, -1)
  call MPIX_Loggp_measure(info, MPI_COMM_WORLD, measured, ierror)
  if (ranks > 1) then
    call ok(ierror, 'measure')
    ! how good they are is the matter of the C tests
    call check(all([measured%latency, measured%send_overhead, measured%recv_overhead, measured%gap, measured%gap_per_byte, &
        measured%deviation] >= 0) .and. measured%eager >= MPIX_LOGGP_UNLIMITED, 'measured')
  else
    call fails(ierror, MPI_ERR_COMM, 'MPIX_Loggp_measure')
    call check(measured%latency < 0, 'written by a call that failed')
  end if
  call MPI_Info_free(info, ierror)
  call MPI_Comm_free(comm, ierror)
  call finish()
end program loggp
