#include "convert.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- constants that are variables in Fortran, and so have other addresses than in C ---- */

enum { BOTTOM, IN_PLACE, UNWEIGHTED, WEIGHTS_EMPTY, CONSTANTS, MODULES = 2 };

static const void *constants[MODULES][CONSTANTS];

/* in sentinels.f90 */
void mpixf_tell_mpi(void), mpixf_tell_mpi_f08(void);
void mpixf_constant(int module, int which, const CFI_cdesc_t *variable);

void mpixf_constant(int module, int which, const CFI_cdesc_t *variable) { constants[module][which] = variable->base_addr; }

/* addresses are known when the library is loaded: no call has to look whether they are */
__attribute__((constructor)) static void learn(void) {
  mpixf_tell_mpi();
  mpixf_tell_mpi_f08();
}

static void *translated(void *address) {
  for (int m = 0; m < MODULES; m++) {
    if (address == constants[m][BOTTOM]) return MPI_BOTTOM;
    if (address == constants[m][IN_PLACE]) return MPI_IN_PLACE;
    if (address == constants[m][UNWEIGHTED]) return MPI_UNWEIGHTED;
    if (address == constants[m][WEIGHTS_EMPTY]) return MPI_WEIGHTS_EMPTY;
  }
  return address;
}

/* ---- the right MPI ---- */

void mpixf_begin(void) {
  static int right;
  if (!__atomic_load_n(&right, __ATOMIC_RELAXED)) {
    /* as every C function does, this one looks first, and may be called at any time */
    int major, minor, patch;
    MPIX_Neighbor_get_version(&major, &minor, &patch);
    __atomic_store_n(&right, 1, __ATOMIC_RELAXED);
  }
}

/* ---- arrays ---- */

/* elements; SIZE_MAX: an array of assumed size, which is known to have no gaps */
static size_t elements(const CFI_cdesc_t *a) {
  size_t n = 1;
  for (int d = 0; d < a->rank; d++) {
    if (a->dim[d].extent < 0) return SIZE_MAX;
    n *= (size_t)a->dim[d].extent;
  }
  return n;
}

static int has_gaps(const CFI_cdesc_t *a) {
  ptrdiff_t dense = (ptrdiff_t)a->elem_len;
  size_t n = elements(a);
  if (n == 0 || n == SIZE_MAX) return 0;
  for (int d = 0; d < a->rank; d++) {
    if (a->dim[d].extent > 1 && a->dim[d].sm != dense) return 1;
    dense *= a->dim[d].extent;
  }
  return 0;
}

/* of what is polymorphic, C is not told how long the elements are: not at all for class(*), which
   gfortran passes with this type, and for other classes those of the declared type. Of these, an
   array that Fortran says is dense may seem to have gaps */
static int has_unknown_gaps(const CFI_cdesc_t *a, int is_dense) {
  size_t n = elements(a);
  if (a->type == CFI_type_cptr) return !is_dense && n > 1 && n != SIZE_MAX;
  return a->type == CFI_type_struct && is_dense && has_gaps(a);
}

/* of a scalar of class(*) that no Fortran procedure hands on, gfortran 12 tells the address of
   what describes it */
static int is_described(const CFI_cdesc_t *a) {
  return a->rank == 0 && a->type == CFI_type_other && a->elem_len == 3 * sizeof(void *);
}

/* between an array of one or more elements and a copy without gaps */
static void copy_elements(const CFI_cdesc_t *a, char *copy, int back) {
  CFI_index_t at[CFI_MAX_RANK] = {0};
  for (int d = 0; d < a->rank;) {
    char *element = a->base_addr;
    for (int e = 1; e < a->rank; e++) element += at[e] * a->dim[e].sm;
    for (CFI_index_t i = 0; i < a->dim[0].extent; i++, element += a->dim[0].sm, copy += a->elem_len) {
      if (back) memcpy(element, copy, a->elem_len);
      else memcpy(copy, element, a->elem_len);
    }
    /* the next column */
    for (d = 1; d < a->rank && ++at[d] == a->dim[d].extent; d++) at[d] = 0;
  }
}

mpixf_buffer mpixf_copied(const CFI_cdesc_t *array, int is_dense, void *failed) {
  mpixf_buffer buffer = {array, translated(array->base_addr), NULL};
  if (has_unknown_gaps(array, is_dense) || is_described(array)) buffer.address = failed;
  else if (array->type != CFI_type_cptr && has_gaps(array)) {
    buffer.address = buffer.copy = malloc(elements(array) * array->elem_len);
    if (buffer.copy) copy_elements(array, buffer.copy, 0);
    else buffer.address = failed;
  }
  return buffer;
}

mpixf_buffer mpixf_direct(const CFI_cdesc_t *array) {
  return (mpixf_buffer){array, has_gaps(array) || is_described(array) ? MPI_IN_PLACE : translated(array->base_addr), NULL};
}

void mpixf_give_back(mpixf_buffer *buffer) {
  if (buffer->copy) copy_elements(buffer->array, buffer->copy, 1);
  mpixf_drop(buffer);
}

void mpixf_drop(mpixf_buffer *buffer) { free(buffer->copy); }

/* ---- all else ---- */

void mpixf_types_of(mpixf_types *types, const MPI_Fint *handles, int degree, int fields) {
  size_t n = handles && fields > 0 ? (size_t)degree * (size_t)fields : 0;
  types->types = n <= sizeof types->few / sizeof *types->few ? types->few : malloc(n * sizeof(MPI_Datatype));
  if (!handles) types->types = NULL;
  for (size_t i = 0; i < n && types->types; i++) types->types[i] = MPI_Type_f2c(handles[i]);
}

void mpixf_types_end(mpixf_types *types) {
  if (types->types != types->few) free(types->types);
}

int mpixf_degrees(int operation, MPI_Comm comm, int *indegree, int *outdegree) {
  int weighted;
  return MPIX_Neighborhood_get_count(operation, comm, indegree, outdegree, &weighted);
}

mpixf_text mpixf_text_room(const CFI_cdesc_t *string) {
  size_t length = string->elem_len < INT_MAX ? string->elem_len + 1 : INT_MAX;
  mpixf_text text = {string, calloc(length, 1), (int)length};
  /* nothing is written then, and only the length is told */
  if (!text.text) text.length = 0;
  return text;
}

void mpixf_text_end(mpixf_text *text, int code) {
  if (code == MPI_SUCCESS) {
    size_t length = text->text ? strlen(text->text) : 0;
    if (length) memcpy(text->string->base_addr, text->text, length);
    memset((char *)text->string->base_addr + length, ' ', text->string->elem_len - length);
  }
  free(text->text);
}

int mpixf_from_one(MPI_Fint index) { return index > INT_MIN ? index - 1 : INT_MIN; }

void mpixf_to_one(int count, MPI_Fint indices[]) {
  for (int i = 0; i < count; i++)
    if (indices[i] != MPI_UNDEFINED) indices[i]++;
}

void mpixf_end(MPI_Fint *ierror, int code) {
  if (ierror) *ierror = code;
}
