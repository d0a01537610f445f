/* The same test programs for blocking, nonblocking and persistent collectives: TEST_FORM = blocking (default), nonblocking or persistent says which
   of them a call of MPIX_Neighbor_... becomes. A nonblocking one is completed by its sources first, a persistent one runs three times. */
#ifndef FORMS_H
#define FORMS_H

#include "test.h"

enum { BLOCKING, NONBLOCKING, PERSISTENT };

static inline int test_form(void) {
  static int form = -1;
  if (form < 0) {
    const char *name = getenv("TEST_FORM");
    form = name && !strcmp(name, "nonblocking") ? NONBLOCKING : name && !strcmp(name, "persistent") ? PERSISTENT : BLOCKING;
  }
  return form;
}

static MPIX_Request test_request;

/* completes what has been started; each source is told once */
static inline int by_sources(int rc) {
  int index, last = -1, flag = 0;
  if (rc != MPI_SUCCESS) return rc;
  /* an error of a source comes again when the request is completed */
  while (MPIX_Request_waitany_source(test_request, &index) == MPI_SUCCESS && index != MPI_UNDEFINED) {
    CHECK(index >= 0 && index != last, "source %d is told twice", index);
    last = index;
    CHECK(MPIX_Request_test_source(test_request, index, &flag) != MPI_SUCCESS || flag == 1, "source %d has been told, and has not arrived", index);
  }
  rc = MPIX_Request_wait(&test_request);
  CHECK(test_request == NULL, "a request that is complete is not NULL");
  return rc;
}

/* the first run by tests, the others by waits */
static inline int by_plan(int rc) {
  int flag = 0;
  if (rc != MPI_SUCCESS) return rc;
  for (int run = 0; run < 3; run++) {
    int started = MPIX_Request_start(&test_request);
    if (rc == MPI_SUCCESS) rc = started;
    if (started != MPI_SUCCESS) break;
    flag = run > 0;
    int tested = MPI_SUCCESS;
    while (!flag && tested == MPI_SUCCESS) tested = MPIX_Request_test(&test_request, &flag);
    int waited = MPIX_Request_wait(&test_request);
    if (rc == MPI_SUCCESS) rc = tested != MPI_SUCCESS ? tested : waited;
  }
  int freed = MPIX_Request_free(&test_request);
  CHECK(test_request == NULL, "a request that has been freed is not NULL");
  return rc == MPI_SUCCESS ? freed : rc;
}

/* the functions of these names themselves are called, as a macro does not expand in itself */
#define MPIX_Neighbor_gather(...) \
  (test_form() == NONBLOCKING  ? by_sources(MPIX_Ineighbor_gather(__VA_ARGS__, &test_request)) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_gather_plan(__VA_ARGS__, MPI_INFO_NULL, &test_request)) \
                               : MPIX_Neighbor_gather(__VA_ARGS__))
#define MPIX_Neighbor_gather_c(...) \
  (test_form() == NONBLOCKING  ? by_sources(MPIX_Ineighbor_gather_c(__VA_ARGS__, &test_request)) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_gather_plan_c(__VA_ARGS__, MPI_INFO_NULL, &test_request)) \
                               : MPIX_Neighbor_gather_c(__VA_ARGS__))
#define MPIX_Neighbor_gatherv(...) \
  (test_form() == NONBLOCKING  ? by_sources(MPIX_Ineighbor_gatherv(__VA_ARGS__, &test_request)) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_gatherv_plan(__VA_ARGS__, MPI_INFO_NULL, &test_request)) \
                               : MPIX_Neighbor_gatherv(__VA_ARGS__))
#define MPIX_Neighbor_gatherv_c(...) \
  (test_form() == NONBLOCKING  ? by_sources(MPIX_Ineighbor_gatherv_c(__VA_ARGS__, &test_request)) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_gatherv_plan_c(__VA_ARGS__, MPI_INFO_NULL, &test_request)) \
                               : MPIX_Neighbor_gatherv_c(__VA_ARGS__))
#define MPIX_Neighbor_alltoall(...) \
  (test_form() == NONBLOCKING  ? by_sources(MPIX_Ineighbor_alltoall(__VA_ARGS__, &test_request)) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_alltoall_plan(__VA_ARGS__, MPI_INFO_NULL, &test_request)) \
                               : MPIX_Neighbor_alltoall(__VA_ARGS__))
#define MPIX_Neighbor_alltoall_c(...) \
  (test_form() == NONBLOCKING  ? by_sources(MPIX_Ineighbor_alltoall_c(__VA_ARGS__, &test_request)) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_alltoall_plan_c(__VA_ARGS__, MPI_INFO_NULL, &test_request)) \
                               : MPIX_Neighbor_alltoall_c(__VA_ARGS__))
#define MPIX_Neighbor_alltoallv(...) \
  (test_form() == NONBLOCKING  ? by_sources(MPIX_Ineighbor_alltoallv(__VA_ARGS__, &test_request)) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_alltoallv_plan(__VA_ARGS__, MPI_INFO_NULL, &test_request)) \
                               : MPIX_Neighbor_alltoallv(__VA_ARGS__))
#define MPIX_Neighbor_alltoallv_c(...) \
  (test_form() == NONBLOCKING  ? by_sources(MPIX_Ineighbor_alltoallv_c(__VA_ARGS__, &test_request)) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_alltoallv_plan_c(__VA_ARGS__, MPI_INFO_NULL, &test_request)) \
                               : MPIX_Neighbor_alltoallv_c(__VA_ARGS__))
#define MPIX_Neighbor_alltoallw(...) \
  (test_form() == NONBLOCKING  ? by_sources(MPIX_Ineighbor_alltoallw(__VA_ARGS__, &test_request)) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_alltoallw_plan(__VA_ARGS__, MPI_INFO_NULL, &test_request)) \
                               : MPIX_Neighbor_alltoallw(__VA_ARGS__))
#define MPIX_Neighbor_alltoallw_c(...) \
  (test_form() == NONBLOCKING  ? by_sources(MPIX_Ineighbor_alltoallw_c(__VA_ARGS__, &test_request)) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_alltoallw_plan_c(__VA_ARGS__, MPI_INFO_NULL, &test_request)) \
                               : MPIX_Neighbor_alltoallw_c(__VA_ARGS__))
#define MPIX_Neighbor_reduce(...) \
  (test_form() == NONBLOCKING  ? by_sources(MPIX_Ineighbor_reduce(__VA_ARGS__, &test_request)) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_reduce_plan(__VA_ARGS__, MPI_INFO_NULL, &test_request)) \
                               : MPIX_Neighbor_reduce(__VA_ARGS__))
#define MPIX_Neighbor_reduce_c(...) \
  (test_form() == NONBLOCKING  ? by_sources(MPIX_Ineighbor_reduce_c(__VA_ARGS__, &test_request)) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_reduce_plan_c(__VA_ARGS__, MPI_INFO_NULL, &test_request)) \
                               : MPIX_Neighbor_reduce_c(__VA_ARGS__))
#define MPIX_Neighbor_reducev(...) \
  (test_form() == NONBLOCKING  ? by_sources(MPIX_Ineighbor_reducev(__VA_ARGS__, &test_request)) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_reducev_plan(__VA_ARGS__, MPI_INFO_NULL, &test_request)) \
                               : MPIX_Neighbor_reducev(__VA_ARGS__))
#define MPIX_Neighbor_reducev_c(...) \
  (test_form() == NONBLOCKING  ? by_sources(MPIX_Ineighbor_reducev_c(__VA_ARGS__, &test_request)) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_reducev_plan_c(__VA_ARGS__, MPI_INFO_NULL, &test_request)) \
                               : MPIX_Neighbor_reducev_c(__VA_ARGS__))

#endif
