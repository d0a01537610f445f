/* The same test programs for blocking, nonblocking and persistent collectives: TEST_FORM = blocking
   (default), nonblocking or persistent says which of them a call of MPIX_Neighbor_... becomes. A
   nonblocking one is completed by its sources first, a persistent one runs three times. */
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
static inline int by_sources(int rc, int operation, MPI_Comm comm) {
  int index, flag = 0, told = 0, indegree = 0, outdegree, weighted, failed = 0;
  if (rc != MPI_SUCCESS) return rc;
  OK(MPIX_Neighborhood_get_count(operation, comm, &indegree, &outdegree, &weighted));
  int *seen = calloc((size_t)indegree + 1, sizeof(int));
  for (;;) {
    /* an error of a source comes again when the request is completed */
    failed = MPIX_Request_waitany_source(test_request, &index) != MPI_SUCCESS;
    if (failed || index == MPI_UNDEFINED) break;
    CHECK(index >= 0 && index < indegree && !seen[index], "source %d of %d is told, or twice", index, indegree);
    if (index >= 0 && index < indegree) seen[index] = 1;
    told++;
    CHECK(MPIX_Request_test_source(test_request, index, &flag) != MPI_SUCCESS || flag == 1, "source %d has been told, and has not arrived", index);
  }
  CHECK(failed || told == indegree, "%d of %d sources are told", told, indegree);
  free(seen);
  rc = MPIX_Request_wait(&test_request);
  CHECK(test_request == NULL, "a request that is complete is not NULL");
  CHECK(!failed || rc != MPI_SUCCESS, "a source failed, and the request did not");
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
#define MPIX_Neighbor_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) \
  (test_form() == NONBLOCKING \
       ? by_sources(MPIX_Ineighbor_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &test_request), MPIX_NEIGHBOR_GATHER, comm) \
   : test_form() == PERSISTENT \
       ? by_plan(MPIX_Neighbor_gather_plan(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, MPI_INFO_NULL, &test_request)) \
       : MPIX_Neighbor_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
#define MPIX_Neighbor_gather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) \
  (test_form() == NONBLOCKING \
       ? by_sources(MPIX_Ineighbor_gather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &test_request), MPIX_NEIGHBOR_GATHER, comm) \
   : test_form() == PERSISTENT \
       ? by_plan(MPIX_Neighbor_gather_plan_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, MPI_INFO_NULL, &test_request)) \
       : MPIX_Neighbor_gather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
#define MPIX_Neighbor_gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm) \
  (test_form() == NONBLOCKING \
       ? by_sources(MPIX_Ineighbor_gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm, &test_request), MPIX_NEIGHBOR_GATHER, comm) \
   : test_form() == PERSISTENT \
       ? by_plan(MPIX_Neighbor_gatherv_plan(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm, MPI_INFO_NULL, &test_request)) \
       : MPIX_Neighbor_gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm))
#define MPIX_Neighbor_gatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm) \
  (test_form() == NONBLOCKING \
       ? by_sources(MPIX_Ineighbor_gatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm, &test_request), MPIX_NEIGHBOR_GATHER, comm) \
   : test_form() == PERSISTENT \
       ? by_plan(MPIX_Neighbor_gatherv_plan_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm, MPI_INFO_NULL, &test_request)) \
       : MPIX_Neighbor_gatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm))
#define MPIX_Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) \
  (test_form() == NONBLOCKING \
       ? by_sources(MPIX_Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &test_request), MPIX_NEIGHBOR_ALLTOALL, comm) \
   : test_form() == PERSISTENT \
       ? by_plan(MPIX_Neighbor_alltoall_plan(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, MPI_INFO_NULL, &test_request)) \
       : MPIX_Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
#define MPIX_Neighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) \
  (test_form() == NONBLOCKING \
       ? by_sources(MPIX_Ineighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &test_request), MPIX_NEIGHBOR_ALLTOALL, comm) \
   : test_form() == PERSISTENT \
       ? by_plan(MPIX_Neighbor_alltoall_plan_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, MPI_INFO_NULL, &test_request)) \
       : MPIX_Neighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
#define MPIX_Neighbor_alltoallv(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm) \
  (test_form() == NONBLOCKING \
       ? by_sources(MPIX_Ineighbor_alltoallv(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm, &test_request), MPIX_NEIGHBOR_ALLTOALL, comm) \
   : test_form() == PERSISTENT \
       ? by_plan(MPIX_Neighbor_alltoallv_plan(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm, MPI_INFO_NULL, &test_request)) \
       : MPIX_Neighbor_alltoallv(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm))
#define MPIX_Neighbor_alltoallv_c(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm) \
  (test_form() == NONBLOCKING \
       ? by_sources(MPIX_Ineighbor_alltoallv_c(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm, &test_request), MPIX_NEIGHBOR_ALLTOALL, comm) \
   : test_form() == PERSISTENT \
       ? by_plan(MPIX_Neighbor_alltoallv_plan_c(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm, MPI_INFO_NULL, &test_request)) \
       : MPIX_Neighbor_alltoallv_c(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm))
#define MPIX_Neighbor_alltoallw(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, recvdispls, recvtypes, comm) \
  (test_form() == NONBLOCKING \
       ? by_sources(MPIX_Ineighbor_alltoallw(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, recvdispls, recvtypes, comm, &test_request), MPIX_NEIGHBOR_ALLTOALL, comm) \
   : test_form() == PERSISTENT \
       ? by_plan(MPIX_Neighbor_alltoallw_plan(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, recvdispls, recvtypes, comm, MPI_INFO_NULL, &test_request)) \
       : MPIX_Neighbor_alltoallw(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, recvdispls, recvtypes, comm))
#define MPIX_Neighbor_alltoallw_c(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, recvdispls, recvtypes, comm) \
  (test_form() == NONBLOCKING \
       ? by_sources(MPIX_Ineighbor_alltoallw_c(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, recvdispls, recvtypes, comm, &test_request), MPIX_NEIGHBOR_ALLTOALL, comm) \
   : test_form() == PERSISTENT \
       ? by_plan(MPIX_Neighbor_alltoallw_plan_c(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, recvdispls, recvtypes, comm, MPI_INFO_NULL, &test_request)) \
       : MPIX_Neighbor_alltoallw_c(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, recvdispls, recvtypes, comm))
#define MPIX_Neighbor_reduce(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm) \
  (test_form() == NONBLOCKING \
       ? by_sources(MPIX_Ineighbor_reduce(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &test_request), MPIX_NEIGHBOR_REDUCE, comm) \
   : test_form() == PERSISTENT \
       ? by_plan(MPIX_Neighbor_reduce_plan(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, MPI_INFO_NULL, &test_request)) \
       : MPIX_Neighbor_reduce(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm))
#define MPIX_Neighbor_reduce_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm) \
  (test_form() == NONBLOCKING \
       ? by_sources(MPIX_Ineighbor_reduce_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &test_request), MPIX_NEIGHBOR_REDUCE, comm) \
   : test_form() == PERSISTENT \
       ? by_plan(MPIX_Neighbor_reduce_plan_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, MPI_INFO_NULL, &test_request)) \
       : MPIX_Neighbor_reduce_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm))
#define MPIX_Neighbor_reducev(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, op, comm) \
  (test_form() == NONBLOCKING \
       ? by_sources(MPIX_Ineighbor_reducev(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, op, comm, &test_request), MPIX_NEIGHBOR_REDUCE, comm) \
   : test_form() == PERSISTENT \
       ? by_plan(MPIX_Neighbor_reducev_plan(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, op, comm, MPI_INFO_NULL, &test_request)) \
       : MPIX_Neighbor_reducev(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, op, comm))
#define MPIX_Neighbor_reducev_c(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, op, comm) \
  (test_form() == NONBLOCKING \
       ? by_sources(MPIX_Ineighbor_reducev_c(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, op, comm, &test_request), MPIX_NEIGHBOR_REDUCE, comm) \
   : test_form() == PERSISTENT \
       ? by_plan(MPIX_Neighbor_reducev_plan_c(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, op, comm, MPI_INFO_NULL, &test_request)) \
       : MPIX_Neighbor_reducev_c(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, op, comm))

#endif
