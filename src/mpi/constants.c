/* What mpi.h has only as macros, or what cannot be written in Rust, in a form that Rust can link
   to. */
#include "families.h"
#include <mpi.h>
#include <stddef.h>

/* 1: simulated processes, which share one process of the system and take turns */
#ifdef SMPI_H
/* mpi-sys needs constants for these (scripts/smpi/mpi.h) */
#undef MPI_COMM_WORLD
#undef MPI_COMM_SELF
#define MPI_COMM_SELF smpi_process_comm_self()
#include "simgrid.c"
const int mpixn_simulated = 1;
#else
const int mpixn_simulated = 0;
void mpixn_pass_time(double microseconds) { (void)microseconds; }
#endif

const void *const mpixn_in_place = MPI_IN_PLACE;
/* MPICH has it as a variable */
const int *mpixn_weights_empty(void) { return MPI_WEIGHTS_EMPTY; }
const int mpixn_thread_multiple = MPI_THREAD_MULTIPLE;
const int mpixn_max_error_string = MPI_MAX_ERROR_STRING;
const int mpixn_err_in_status = MPI_ERR_IN_STATUS;
const int mpixn_err_pending = MPI_ERR_PENDING;
const int mpixn_max_info_val = MPI_MAX_INFO_VAL;
const int mpixn_max_info_key = MPI_MAX_INFO_KEY;
const int mpixn_mode_nocheck = MPI_MODE_NOCHECK;

/* Of epochs that start where all targets have posted. Open MPI's osc/sm does not count anew the
   sources of an epoch that is posted so: the second one would never end. */
#ifdef MPICH_VERSION
const int mpixn_mode_epoch = MPI_MODE_NOCHECK;
#else
const int mpixn_mode_epoch = 0;
#endif

/* SimGrid has the functions of MPI 3, and aborts in this one */
#ifdef SMPI_H
const int mpixn_matched_probe = 0;
#else
const int mpixn_matched_probe = 1;
#endif

/* Open MPI gives a datatype the number that a user-defined operator in Fortran is handed only when
   somebody asks for it: a Fortran program for its own, nobody for ours */
void mpixn_number_in_fortran(MPI_Datatype datatype) {
#ifdef OPEN_MPI
  MPI_Type_c2f(datatype);
#else
  (void)datatype;
#endif
}

/* in the order of error::Class::ALL; own classes are added at run time */
const int mpixn_error_classes[] = {
    MPI_ERR_ARG,   MPI_ERR_BUFFER, MPI_ERR_COMM,  MPI_ERR_COUNT, MPI_ERR_GROUP,    MPI_ERR_INFO_VALUE, MPI_ERR_INTERN,
    MPI_ERR_NO_MEM, MPI_ERR_OP,    MPI_ERR_OTHER,  MPI_ERR_RANK,  MPI_ERR_REQUEST,  MPI_ERR_RMA_SYNC, MPI_ERR_TOPOLOGY,
    MPI_ERR_TRUNCATE, MPI_ERR_TYPE,
};

/* Open MPI 4 names the file behind a window on a node by the communicator's number, which the parts
   of a split share: their windows meet in one file */
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
const int mpixn_windows_of_parts = 0;
#else
const int mpixn_windows_of_parts = 1;
#endif

/* handles are not constant expressions in every MPI: functions */
MPI_Datatype mpixn_byte(void) { return MPI_BYTE; }
MPI_Datatype mpixn_packed(void) { return MPI_PACKED; }
int mpixn_tag_ub(void) { return MPI_TAG_UB; }
int mpixn_win_model(void) { return MPI_WIN_MODEL; }
int mpixn_win_unified(void) { return MPI_WIN_UNIFIED; }
MPI_Comm mpixn_comm_world(void) { return MPI_COMM_WORLD; }
MPI_Comm mpixn_comm_self(void) { return MPI_COMM_SELF; }
MPI_Op mpixn_op_null(void) { return MPI_OP_NULL; }
/* the other fatal handler of MPI 4; Open MPI's codes carry texts, so that nobody asks there */
#if defined(MPI_ERRORS_ABORT) && !defined(OPEN_MPI)
MPI_Errhandler mpixn_errors_abort(void) { return MPI_ERRORS_ABORT; }
#else
MPI_Errhandler mpixn_errors_abort(void) { return MPI_ERRORS_ARE_FATAL; }
#endif

/* communicators made by MPI_Comm_dup do not inherit the attribute */
int mpixn_create_keyval(MPI_Comm_delete_attr_function *delete_fn, int *keyval) {
  return MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_fn, keyval, NULL);
}

/* datatypes made by MPI_Type_dup do not inherit the attribute */
int mpixn_create_type_keyval(MPI_Type_delete_attr_function *delete_fn, int *keyval) {
  return MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_fn, keyval, NULL);
}

/* family of the MPI that the library is built for; -1: mpi.h does not identify it, or it has no
   relatives */
#if defined(OPEN_MPI)
enum { FAMILY = MPIXN_OPEN_MPI };
#elif defined(MPICH_VERSION)
enum { FAMILY = MPIXN_MPICH };
#elif defined(MPI_ABI_VERSION)
enum { FAMILY = MPIXN_STANDARD };
#else
enum { FAMILY = -1 };
#endif

/* its name */
const char *mpixn_family(void) {
#ifdef SMPI_H
  return "SimGrid";
#endif
  return FAMILY < 0 ? "" : mpixn_families[FAMILY < 0 ? 0 : FAMILY].name;
}

/* the families, as bits, whose MPI is in `scope`, a handle of dlopen; null: the process */
unsigned mpixn_families_of(void *scope) { return mpixn_families_in(scope); }

/* the name of a family; null: there are no more */
const char *mpixn_family_name(int family) { return family < MPIXN_FAMILIES ? mpixn_families[family].name : NULL; }

/* the same with the version, for people */
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
const char *mpixn_built_for(void) {
#if defined(OPEN_MPI)
  return "Open MPI " TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION) "." TEXT(OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
  return "MPICH " MPICH_VERSION;
#elif defined(SMPI_H)
  return "SimGrid (SMPI)";
#elif defined(MPI_ABI_VERSION)
  return "the MPI-5 standard ABI " TEXT(MPI_ABI_VERSION) "." TEXT(MPI_ABI_SUBVERSION);
#else
  return "another MPI";
#endif
}

/* Fortran's integers and reals have as many bytes as the MPI was built for */
static int of_bytes(MPI_Datatype type, int four, int eight) {
  int size;
  if (MPI_Type_size(type, &size) != MPI_SUCCESS) return 0;
  return size == 4 ? four : size == 8 ? eight : 0;
}

/* what op::Element counts; 0: anything else */
int mpixn_element(MPI_Datatype type) {
  if (type == MPI_INT || type == MPI_INT32_T) return 1;
  if (type == MPI_LONG) return sizeof(long) == 8 ? 2 : 1;
  if (type == MPI_LONG_LONG || type == MPI_INT64_T) return 2;
  if (type == MPI_FLOAT) return 3;
  if (type == MPI_DOUBLE) return 4;
  if (type == MPI_UNSIGNED || type == MPI_UINT32_T) return 5;
  if (type == MPI_UNSIGNED_LONG) return sizeof(long) == 8 ? 6 : 5;
  if (type == MPI_UNSIGNED_LONG_LONG || type == MPI_UINT64_T) return 6;
  if (type == MPI_UNSIGNED_CHAR || type == MPI_UINT8_T) return 7;
  if (type == MPI_UNSIGNED_SHORT || type == MPI_UINT16_T) return 8;
  if (type == MPI_INTEGER || type == MPI_INTEGER4 || type == MPI_INTEGER8) return of_bytes(type, 1, 2);
  if (type == MPI_REAL || type == MPI_DOUBLE_PRECISION || type == MPI_REAL4 || type == MPI_REAL8) return of_bytes(type, 3, 4);
  return 0;
}

/* complex numbers, in whatever language, of the MPIs that have them */
static int is_complex(MPI_Datatype type) {
  MPI_Datatype all[] = {
      MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX,
#ifdef MPI_COMPLEX8
      MPI_COMPLEX8,
#endif
#ifdef MPI_COMPLEX16
      MPI_COMPLEX16,
#endif
#ifdef MPI_COMPLEX32
      MPI_COMPLEX32,
#endif
#ifdef MPI_CXX_FLOAT_COMPLEX
      MPI_CXX_FLOAT_COMPLEX,
#endif
#ifdef MPI_CXX_DOUBLE_COMPLEX
      MPI_CXX_DOUBLE_COMPLEX,
#endif
#ifdef MPI_CXX_LONG_DOUBLE_COMPLEX
      MPI_CXX_LONG_DOUBLE_COMPLEX,
#endif
  };
  for (int i = 0; i < (int)(sizeof all / sizeof *all); i++)
    if (all[i] == type) return 1;
  return 0;
}

/* what tells predefined datatypes of one size apart: their element, and further kinds; 0: anything
   else */
int mpixn_kind(MPI_Datatype type) {
  int element = mpixn_element(type);
  if (element > 0) return element;
  if (is_complex(type)) return 32;
  if (type == MPI_2INT || type == MPI_2INTEGER) return 33;
  if (type == MPI_FLOAT_INT || type == MPI_DOUBLE_INT || type == MPI_LONG_DOUBLE_INT) return 34;
  if (type == MPI_LONG_INT || type == MPI_SHORT_INT) return 35;
  if (type == MPI_2REAL || type == MPI_2DOUBLE_PRECISION) return 36;
  return 0;
}

/* the predefined operators: first those of op::Operator, in its order */
#define OPERATORS                                                                              \
  {MPI_SUM,  MPI_PROD, MPI_MIN,  MPI_MAX,    MPI_LAND,   MPI_BAND,    MPI_LOR,                  \
   MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP}

/* an operator's place among the predefined ones, from 1 on; 0: a user's */
int mpixn_operator(MPI_Op op) {
  MPI_Op known[] = OPERATORS;
  for (int i = 0; i < (int)(sizeof known / sizeof *known); i++)
    if (op == known[i]) return i + 1;
  return 0;
}

/* the inverse; MPI_OP_NULL: there is no such place */
MPI_Op mpixn_operator_at(int place) {
  MPI_Op known[] = OPERATORS;
  return place >= 1 && place <= (int)(sizeof known / sizeof *known) ? known[place - 1] : MPI_OP_NULL;
}

MPI_Op mpixn_replace(void) { return MPI_REPLACE; }

/* 1: a predefined operator of reductions; 2: one for windows alone; 0: a user's */
int mpixn_op_kind(MPI_Op op) {
  if (op == MPI_REPLACE || op == MPI_NO_OP) return 2;
  return mpixn_operator(op) != 0;
}

/* in the order of typemap::Combiner. The names that end in _INTEGER are of types that MPI 3
   removed: Open MPI hides them, and keeps their numbers, each before that of what took the type's
   place */
#if defined(OPEN_MPI)
#define REMOVED(name) ((name) - 1)
#elif defined(MPICH_VERSION)
#define REMOVED(name) name##_INTEGER
#else
#define REMOVED(name) (name)
#endif
const int mpixn_combiners[] = {
    MPI_COMBINER_NAMED,
    MPI_COMBINER_DUP,
    MPI_COMBINER_CONTIGUOUS,
    MPI_COMBINER_VECTOR,
    MPI_COMBINER_HVECTOR,
    REMOVED(MPI_COMBINER_HVECTOR),
    MPI_COMBINER_INDEXED,
    MPI_COMBINER_HINDEXED,
    REMOVED(MPI_COMBINER_HINDEXED),
    MPI_COMBINER_INDEXED_BLOCK,
    MPI_COMBINER_HINDEXED_BLOCK,
    MPI_COMBINER_STRUCT,
    REMOVED(MPI_COMBINER_STRUCT),
    MPI_COMBINER_SUBARRAY,
    MPI_COMBINER_DARRAY,
    MPI_COMBINER_RESIZED,
    MPI_COMBINER_F90_REAL,
    MPI_COMBINER_F90_COMPLEX,
    MPI_COMBINER_F90_INTEGER,
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION > 0)
    MPI_COMBINER_VALUE_INDEX,
#else
    /* found above, so never here */
    MPI_COMBINER_NAMED,
#endif
};
const int mpixn_order_fortran = MPI_ORDER_FORTRAN;
const int mpixn_distribute[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_DFLT_DARG};

/* MPI 4 has these, and MPIs of one family are of MPI 3 or of MPI 4: null where the one that runs
   has not */
#pragma weak MPI_Type_get_envelope_c
#pragma weak MPI_Type_get_contents_c
int MPI_Type_get_envelope_c(MPI_Datatype, MPI_Count *, MPI_Count *, MPI_Count *, MPI_Count *, int *);
int MPI_Type_get_contents_c(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int[], MPI_Aint[], MPI_Count[], MPI_Datatype[]);

/* numbers: how many integers, addresses, large counts and datatypes a datatype was made of */
int mpixn_type_envelope(MPI_Datatype type, MPI_Count numbers[4], int *combiner) {
  if (MPI_Type_get_envelope_c) return MPI_Type_get_envelope_c(type, &numbers[0], &numbers[1], &numbers[2], &numbers[3], combiner);
  int integers, addresses, types, rc = MPI_Type_get_envelope(type, &integers, &addresses, &types, combiner);
  numbers[0] = integers, numbers[1] = addresses, numbers[2] = 0, numbers[3] = types;
  return rc;
}

/* the arrays are as long as the envelope says */
int mpixn_type_contents(MPI_Datatype type, const MPI_Count numbers[4], int integers[], MPI_Aint addresses[], MPI_Count counts[], MPI_Datatype types[]) {
  if (MPI_Type_get_contents_c)
    return MPI_Type_get_contents_c(type, numbers[0], numbers[1], numbers[2], numbers[3], integers, addresses, counts, types);
  return MPI_Type_get_contents(type, (int)numbers[0], (int)numbers[1], (int)numbers[3], integers, addresses, types);
}
