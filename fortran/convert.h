/* Conversions of Fortran's arguments for the generated functions of glue.c. */
#ifndef MPIXF_CONVERT_H
#define MPIXF_CONVERT_H

#include <ISO_Fortran_binding.h>
#include <mpi.h>
#include <mpix_neighbor.h>
#include <stddef.h>

#define MPIXF_API __attribute__((visibility("default")))

/* the generated functions hand arrays of default integers on as they are */
_Static_assert(sizeof(MPI_Fint) == sizeof(int), "the Fortran compiler's default integer is not C's int");

/* Ends a program that runs under another MPI than the library was built for, before a handle is
   converted. */
void mpixf_begin(void);

/* A Fortran array as C takes it. */
typedef struct {
  const CFI_cdesc_t *array;
  void *address; /* what C is given */
  /* the array's elements without gaps between them; NULL: C is given the array itself */
  void *copy;
} mpixf_buffer;

/* For calls that return when they are done with the array: one with gaps is copied. `failed`
   becomes the address if there is no memory for that, or if the array is polymorphic and where its
   gaps are is not known; `is_dense`, which Fortran looks up, says that it has none. Fortran's
   MPI_BOTTOM, MPI_IN_PLACE, MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY become C's. */
mpixf_buffer mpixf_copied(const CFI_cdesc_t *array, int is_dense, void *failed);

/* For calls that go on working with the array when they have returned: one with gaps becomes
   MPI_IN_PLACE, which is an error in each of them. */
mpixf_buffer mpixf_direct(const CFI_cdesc_t *array);

/* Frees the copy, if there is one; before that its elements return to where they came from. */
void mpixf_give_back(mpixf_buffer *buffer);

/* Frees the copy, if there is one. */
void mpixf_drop(mpixf_buffer *buffer);

/* Datatypes of all neighbors, for `fields` fields. */
typedef struct {
  MPI_Datatype *types, few[32];
} mpixf_types;

/* No handles, or no memory: types is NULL, which is an error where entries are looked at. */
void mpixf_types_of(mpixf_types *types, const MPI_Fint *handles, int degree, int fields);
void mpixf_types_end(mpixf_types *types);

/* Degrees of a communicator's neighborhood for an operation. */
int mpixf_degrees(int operation, MPI_Comm comm, int *indegree, int *outdegree);

/* Room for a C string that fills a Fortran string. */
typedef struct {
  const CFI_cdesc_t *string;
  char *text;
  int length; /* with the final null */
} mpixf_text;

mpixf_text mpixf_text_room(const CFI_cdesc_t *string);

/* Copies the text, padded with blanks, where the call succeeded. */
void mpixf_text_end(mpixf_text *text, int code);

/* Indices count from 1 in Fortran. What is no index in Fortran is none in C. */
int mpixf_from_one(MPI_Fint index);

/* MPI_UNDEFINED stays. */
void mpixf_to_one(int count, MPI_Fint indices[]);

void mpixf_end(MPI_Fint *ierror, int code);

#endif
