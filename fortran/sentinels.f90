! Where Fortran has MPI's constants that are told by their addresses: convert.c asks when it is
! loaded.
! mpif.h has the variables of module mpi.

subroutine mpixf_tell_mpi() bind(C)
  use mpi, only : MPI_BOTTOM, MPI_IN_PLACE, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY
  implicit none
  interface
    subroutine mpixf_constant(module, which, variable) bind(C)
      use, intrinsic :: iso_c_binding, only : c_int
      integer(c_int), value :: module, which
      type(*), intent(in) :: variable(..)
    end subroutine mpixf_constant
  end interface
  call mpixf_constant(0, 0, MPI_BOTTOM)
  call mpixf_constant(0, 1, MPI_IN_PLACE)
  call mpixf_constant(0, 2, MPI_UNWEIGHTED)
  call mpixf_constant(0, 3, MPI_WEIGHTS_EMPTY)
end subroutine mpixf_tell_mpi

subroutine mpixf_tell_mpi_f08() bind(C)
  use mpi_f08, only : MPI_BOTTOM, MPI_IN_PLACE, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY
  implicit none
  interface
    subroutine mpixf_constant(module, which, variable) bind(C)
      use, intrinsic :: iso_c_binding, only : c_int
      integer(c_int), value :: module, which
      type(*), intent(in) :: variable(..)
    end subroutine mpixf_constant
  end interface
  call mpixf_constant(1, 0, MPI_BOTTOM)
  call mpixf_constant(1, 1, MPI_IN_PLACE)
  call mpixf_constant(1, 2, MPI_UNWEIGHTED)
  call mpixf_constant(1, 3, MPI_WEIGHTS_EMPTY)
end subroutine mpixf_tell_mpi_f08
