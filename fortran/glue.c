/* The functions that the Fortran module calls: each converts its arguments and calls the C function
 * of its name.
 *
 * Generated from bindings/functions.toml by `make header`; do not edit. */
#include "convert.h"

MPIXF_API void mpixf_Neighborhood_set(const MPI_Fint *operations, const MPI_Fint *indegree, const MPI_Fint *sources,
    const CFI_cdesc_t *sourceweights, const MPI_Fint *outdegree, const MPI_Fint *targets,
    const CFI_cdesc_t *targetweights, const MPI_Fint *info, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sourceweights_ = mpixf_copied(sourceweights, 0, NULL);
  mpixf_buffer targetweights_ = mpixf_copied(targetweights, 0, NULL);
  int code = MPIX_Neighborhood_set(*operations, *indegree, sources, sourceweights_.address, *outdegree, targets,
      targetweights_.address, MPI_Info_f2c(*info), MPI_Comm_f2c(*comm));
  mpixf_drop(&sourceweights_);
  mpixf_drop(&targetweights_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_gather_set(const MPI_Fint *indegree, const MPI_Fint *sources,
    const CFI_cdesc_t *sourceweights, const MPI_Fint *outdegree, const MPI_Fint *targets,
    const CFI_cdesc_t *targetweights, const MPI_Fint *info, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sourceweights_ = mpixf_copied(sourceweights, 0, NULL);
  mpixf_buffer targetweights_ = mpixf_copied(targetweights, 0, NULL);
  int code = MPIX_Neighbor_gather_set(*indegree, sources, sourceweights_.address, *outdegree, targets,
      targetweights_.address, MPI_Info_f2c(*info), MPI_Comm_f2c(*comm));
  mpixf_drop(&sourceweights_);
  mpixf_drop(&targetweights_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoall_set(const MPI_Fint *indegree, const MPI_Fint *sources,
    const CFI_cdesc_t *sourceweights, const MPI_Fint *outdegree, const MPI_Fint *targets,
    const CFI_cdesc_t *targetweights, const MPI_Fint *info, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sourceweights_ = mpixf_copied(sourceweights, 0, NULL);
  mpixf_buffer targetweights_ = mpixf_copied(targetweights, 0, NULL);
  int code = MPIX_Neighbor_alltoall_set(*indegree, sources, sourceweights_.address, *outdegree, targets,
      targetweights_.address, MPI_Info_f2c(*info), MPI_Comm_f2c(*comm));
  mpixf_drop(&sourceweights_);
  mpixf_drop(&targetweights_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_reduce_set(const MPI_Fint *indegree, const MPI_Fint *sources,
    const CFI_cdesc_t *sourceweights, const MPI_Fint *outdegree, const MPI_Fint *targets,
    const CFI_cdesc_t *targetweights, const MPI_Fint *info, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sourceweights_ = mpixf_copied(sourceweights, 0, NULL);
  mpixf_buffer targetweights_ = mpixf_copied(targetweights, 0, NULL);
  int code = MPIX_Neighbor_reduce_set(*indegree, sources, sourceweights_.address, *outdegree, targets,
      targetweights_.address, MPI_Info_f2c(*info), MPI_Comm_f2c(*comm));
  mpixf_drop(&sourceweights_);
  mpixf_drop(&targetweights_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighborhood_set_group(const MPI_Fint *operations, const MPI_Fint *sourcegroup,
    const CFI_cdesc_t *sourceweights, const MPI_Fint *targetgroup, const CFI_cdesc_t *targetweights,
    const MPI_Fint *info, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sourceweights_ = mpixf_copied(sourceweights, 0, NULL);
  mpixf_buffer targetweights_ = mpixf_copied(targetweights, 0, NULL);
  int code = MPIX_Neighborhood_set_group(*operations, MPI_Group_f2c(*sourcegroup), sourceweights_.address,
      MPI_Group_f2c(*targetgroup), targetweights_.address, MPI_Info_f2c(*info), MPI_Comm_f2c(*comm));
  mpixf_drop(&sourceweights_);
  mpixf_drop(&targetweights_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighborhood_set_topology(const MPI_Fint *operations, const MPI_Fint *info, const MPI_Fint *comm,
    MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Neighborhood_set_topology(*operations, MPI_Info_f2c(*info), MPI_Comm_f2c(*comm));
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighborhood_set_targets(const MPI_Fint *operations, const MPI_Fint *outdegree,
    const MPI_Fint *targets, const CFI_cdesc_t *targetweights, const MPI_Fint *info, const MPI_Fint *comm,
    MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer targetweights_ = mpixf_copied(targetweights, 0, NULL);
  int code = MPIX_Neighborhood_set_targets(*operations, *outdegree, targets, targetweights_.address,
      MPI_Info_f2c(*info), MPI_Comm_f2c(*comm));
  mpixf_drop(&targetweights_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighborhood_reverse(const MPI_Fint *from, const MPI_Fint *to, const MPI_Fint *info,
    const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Neighborhood_reverse(*from, *to, MPI_Info_f2c(*info), MPI_Comm_f2c(*comm));
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighborhood_get_count(const MPI_Fint *operation, const MPI_Fint *comm, MPI_Fint *indegree,
    MPI_Fint *outdegree, MPI_Fint *weighted, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Neighborhood_get_count(*operation, MPI_Comm_f2c(*comm), indegree, outdegree, weighted);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighborhood_get(const MPI_Fint *operation, const MPI_Fint *comm, const MPI_Fint *maxindegree,
    MPI_Fint *sources, const CFI_cdesc_t *sourceweights, const MPI_Fint *maxoutdegree, MPI_Fint *targets,
    const CFI_cdesc_t *targetweights, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sourceweights_ = mpixf_copied(sourceweights, 0, NULL);
  mpixf_buffer targetweights_ = mpixf_copied(targetweights, 0, NULL);
  int code = MPIX_Neighborhood_get(*operation, MPI_Comm_f2c(*comm), *maxindegree, sources, sourceweights_.address,
      *maxoutdegree, targets, targetweights_.address);
  mpixf_give_back(&sourceweights_);
  mpixf_give_back(&targetweights_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighborhood_describe(const MPI_Fint *operation, const MPI_Fint *comm, const CFI_cdesc_t *string,
    MPI_Fint *resultlen, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_text string_ = mpixf_text_room(string);
  int code = MPIX_Neighborhood_describe(*operation, MPI_Comm_f2c(*comm), string_.length, string_.text, resultlen);
  mpixf_text_end(&string_, code);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighborhood_free(const MPI_Fint *operations, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Neighborhood_free(*operations, MPI_Comm_f2c(*comm));
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_gather(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Fint *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense, const MPI_Fint *recvcount,
    const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_gather(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address, *recvcount,
      MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_gather_c(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Count *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense, const MPI_Count *recvcount,
    const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_gather_c(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address, *recvcount,
      MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_gather(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype,
    const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm,
    MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_gather(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address, *recvcount,
      MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_gather_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcount, const MPI_Fint *recvtype,
    const MPI_Fint *comm, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_gather_c(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_gather_plan(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *recvtype,
    const MPI_Fint *comm, const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_gather_plan(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_gather_plan_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcount, const MPI_Fint *recvtype,
    const MPI_Fint *comm, const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_gather_plan_c(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_gatherv(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Fint *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense, const MPI_Fint *recvcounts,
    const MPI_Fint *recvdispls, const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_gatherv(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address, recvcounts,
      recvdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_gatherv_c(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Count *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense, const MPI_Count *recvcounts,
    const MPI_Aint *recvdispls, const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_gatherv_c(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_gatherv(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype,
    const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcounts, const MPI_Fint *recvdispls, const MPI_Fint *recvtype,
    const MPI_Fint *comm, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_gatherv(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address, recvcounts,
      recvdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_gatherv_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *recvdispls,
    const MPI_Fint *recvtype, const MPI_Fint *comm, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_gatherv_c(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_gatherv_plan(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcounts, const MPI_Fint *recvdispls,
    const MPI_Fint *recvtype, const MPI_Fint *comm, const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_gatherv_plan(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_gatherv_plan_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *recvdispls,
    const MPI_Fint *recvtype, const MPI_Fint *comm, const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_gatherv_plan_c(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoall(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Fint *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense, const MPI_Fint *recvcount,
    const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_alltoall(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address, *recvcount,
      MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoall_c(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Count *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense, const MPI_Count *recvcount,
    const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_alltoall_c(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_alltoall(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype,
    const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm,
    MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_alltoall(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_alltoall_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcount, const MPI_Fint *recvtype,
    const MPI_Fint *comm, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_alltoall_c(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoall_plan(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *recvtype,
    const MPI_Fint *comm, const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_alltoall_plan(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoall_plan_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcount, const MPI_Fint *recvtype,
    const MPI_Fint *comm, const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_alltoall_plan_c(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoallv(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Fint *sendcounts,
    const MPI_Fint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense,
    const MPI_Fint *recvcounts, const MPI_Fint *recvdispls, const MPI_Fint *recvtype, const MPI_Fint *comm,
    MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_alltoallv(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoallv_c(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Count *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense,
    const MPI_Count *recvcounts, const MPI_Aint *recvdispls, const MPI_Fint *recvtype, const MPI_Fint *comm,
    MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_alltoallv_c(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_alltoallv(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcounts,
    const MPI_Fint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcounts,
    const MPI_Fint *recvdispls, const MPI_Fint *recvtype, const MPI_Fint *comm, MPIX_Request *request,
    MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_alltoallv(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_alltoallv_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcounts,
    const MPI_Aint *recvdispls, const MPI_Fint *recvtype, const MPI_Fint *comm, MPIX_Request *request,
    MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_alltoallv_c(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoallv_plan(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcounts,
    const MPI_Fint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcounts,
    const MPI_Fint *recvdispls, const MPI_Fint *recvtype, const MPI_Fint *comm, const MPI_Fint *info,
    MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_alltoallv_plan(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info),
      request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoallv_plan_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcounts,
    const MPI_Aint *recvdispls, const MPI_Fint *recvtype, const MPI_Fint *comm, const MPI_Fint *info,
    MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_alltoallv_plan_c(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info),
      request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoallw(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Fint *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtypes, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense,
    const MPI_Fint *recvcounts, const MPI_Aint *recvdispls, const MPI_Fint *recvtypes, const MPI_Fint *comm,
    MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ALLTOALL, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_types sendtypes_;
  mpixf_types_of(&sendtypes_, sendtypes, outdegree_, 1);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  mpixf_types recvtypes_;
  mpixf_types_of(&recvtypes_, recvtypes, indegree_, 1);
  code = MPIX_Neighbor_alltoallw(sendbuf_.address, sendcounts, senddispls, sendtypes_.types, recvbuf_.address,
      recvcounts, recvdispls, recvtypes_.types, MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_types_end(&sendtypes_);
  mpixf_give_back(&recvbuf_);
  mpixf_types_end(&recvtypes_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoallw_c(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Count *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtypes, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense,
    const MPI_Count *recvcounts, const MPI_Aint *recvdispls, const MPI_Fint *recvtypes, const MPI_Fint *comm,
    MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ALLTOALL, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_types sendtypes_;
  mpixf_types_of(&sendtypes_, sendtypes, outdegree_, 1);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  mpixf_types recvtypes_;
  mpixf_types_of(&recvtypes_, recvtypes, indegree_, 1);
  code = MPIX_Neighbor_alltoallw_c(sendbuf_.address, sendcounts, senddispls, sendtypes_.types, recvbuf_.address,
      recvcounts, recvdispls, recvtypes_.types, MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_types_end(&sendtypes_);
  mpixf_give_back(&recvbuf_);
  mpixf_types_end(&recvtypes_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_alltoallw(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtypes, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcounts,
    const MPI_Aint *recvdispls, const MPI_Fint *recvtypes, const MPI_Fint *comm, MPIX_Request *request,
    MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ALLTOALL, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_types sendtypes_;
  mpixf_types_of(&sendtypes_, sendtypes, outdegree_, 1);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  mpixf_types recvtypes_;
  mpixf_types_of(&recvtypes_, recvtypes, indegree_, 1);
  code = MPIX_Ineighbor_alltoallw(sendbuf_.address, sendcounts, senddispls, sendtypes_.types, recvbuf_.address,
      recvcounts, recvdispls, recvtypes_.types, MPI_Comm_f2c(*comm), request);
  mpixf_types_end(&sendtypes_);
  mpixf_types_end(&recvtypes_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_alltoallw_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtypes, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcounts,
    const MPI_Aint *recvdispls, const MPI_Fint *recvtypes, const MPI_Fint *comm, MPIX_Request *request,
    MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ALLTOALL, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_types sendtypes_;
  mpixf_types_of(&sendtypes_, sendtypes, outdegree_, 1);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  mpixf_types recvtypes_;
  mpixf_types_of(&recvtypes_, recvtypes, indegree_, 1);
  code = MPIX_Ineighbor_alltoallw_c(sendbuf_.address, sendcounts, senddispls, sendtypes_.types, recvbuf_.address,
      recvcounts, recvdispls, recvtypes_.types, MPI_Comm_f2c(*comm), request);
  mpixf_types_end(&sendtypes_);
  mpixf_types_end(&recvtypes_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoallw_plan(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtypes, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcounts,
    const MPI_Aint *recvdispls, const MPI_Fint *recvtypes, const MPI_Fint *comm, const MPI_Fint *info,
    MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ALLTOALL, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_types sendtypes_;
  mpixf_types_of(&sendtypes_, sendtypes, outdegree_, 1);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  mpixf_types recvtypes_;
  mpixf_types_of(&recvtypes_, recvtypes, indegree_, 1);
  code = MPIX_Neighbor_alltoallw_plan(sendbuf_.address, sendcounts, senddispls, sendtypes_.types, recvbuf_.address,
      recvcounts, recvdispls, recvtypes_.types, MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_types_end(&sendtypes_);
  mpixf_types_end(&recvtypes_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoallw_plan_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtypes, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcounts,
    const MPI_Aint *recvdispls, const MPI_Fint *recvtypes, const MPI_Fint *comm, const MPI_Fint *info,
    MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ALLTOALL, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_types sendtypes_;
  mpixf_types_of(&sendtypes_, sendtypes, outdegree_, 1);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  mpixf_types recvtypes_;
  mpixf_types_of(&recvtypes_, recvtypes, indegree_, 1);
  code = MPIX_Neighbor_alltoallw_plan_c(sendbuf_.address, sendcounts, senddispls, sendtypes_.types, recvbuf_.address,
      recvcounts, recvdispls, recvtypes_.types, MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_types_end(&sendtypes_);
  mpixf_types_end(&recvtypes_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoallw_fields(const MPI_Fint *nfields, const MPI_Aint *sendbufs,
    const CFI_cdesc_t *sendcounts, const CFI_cdesc_t *senddispls, const CFI_cdesc_t *sendtypes,
    const MPI_Aint *recvbufs, const CFI_cdesc_t *recvcounts, const CFI_cdesc_t *recvdispls,
    const CFI_cdesc_t *recvtypes, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ALLTOALL, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendcounts_ = mpixf_copied(sendcounts, 0, NULL);
  mpixf_buffer senddispls_ = mpixf_copied(senddispls, 0, NULL);
  mpixf_buffer sendtypes_ = mpixf_copied(sendtypes, 0, NULL);
  mpixf_types sendtypes_in_c_;
  mpixf_types_of(&sendtypes_in_c_, sendtypes_.address, outdegree_, *nfields);
  mpixf_buffer recvcounts_ = mpixf_copied(recvcounts, 0, NULL);
  mpixf_buffer recvdispls_ = mpixf_copied(recvdispls, 0, NULL);
  mpixf_buffer recvtypes_ = mpixf_copied(recvtypes, 0, NULL);
  mpixf_types recvtypes_in_c_;
  mpixf_types_of(&recvtypes_in_c_, recvtypes_.address, indegree_, *nfields);
  code = MPIX_Neighbor_alltoallw_fields(*nfields, (const void *const *)sendbufs, sendcounts_.address,
      senddispls_.address, sendtypes_in_c_.types, (void *const *)recvbufs, recvcounts_.address, recvdispls_.address,
      recvtypes_in_c_.types, MPI_Comm_f2c(*comm));
  mpixf_drop(&sendcounts_);
  mpixf_drop(&senddispls_);
  mpixf_drop(&sendtypes_);
  mpixf_types_end(&sendtypes_in_c_);
  mpixf_drop(&recvcounts_);
  mpixf_drop(&recvdispls_);
  mpixf_drop(&recvtypes_);
  mpixf_types_end(&recvtypes_in_c_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoallw_fields_c(const MPI_Fint *nfields, const MPI_Aint *sendbufs,
    const CFI_cdesc_t *sendcounts, const CFI_cdesc_t *senddispls, const CFI_cdesc_t *sendtypes,
    const MPI_Aint *recvbufs, const CFI_cdesc_t *recvcounts, const CFI_cdesc_t *recvdispls,
    const CFI_cdesc_t *recvtypes, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ALLTOALL, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendcounts_ = mpixf_copied(sendcounts, 0, NULL);
  mpixf_buffer senddispls_ = mpixf_copied(senddispls, 0, NULL);
  mpixf_buffer sendtypes_ = mpixf_copied(sendtypes, 0, NULL);
  mpixf_types sendtypes_in_c_;
  mpixf_types_of(&sendtypes_in_c_, sendtypes_.address, outdegree_, *nfields);
  mpixf_buffer recvcounts_ = mpixf_copied(recvcounts, 0, NULL);
  mpixf_buffer recvdispls_ = mpixf_copied(recvdispls, 0, NULL);
  mpixf_buffer recvtypes_ = mpixf_copied(recvtypes, 0, NULL);
  mpixf_types recvtypes_in_c_;
  mpixf_types_of(&recvtypes_in_c_, recvtypes_.address, indegree_, *nfields);
  code = MPIX_Neighbor_alltoallw_fields_c(*nfields, (const void *const *)sendbufs, sendcounts_.address,
      senddispls_.address, sendtypes_in_c_.types, (void *const *)recvbufs, recvcounts_.address, recvdispls_.address,
      recvtypes_in_c_.types, MPI_Comm_f2c(*comm));
  mpixf_drop(&sendcounts_);
  mpixf_drop(&senddispls_);
  mpixf_drop(&sendtypes_);
  mpixf_types_end(&sendtypes_in_c_);
  mpixf_drop(&recvcounts_);
  mpixf_drop(&recvdispls_);
  mpixf_drop(&recvtypes_);
  mpixf_types_end(&recvtypes_in_c_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_alltoallw_fields(const MPI_Fint *nfields, const MPI_Aint *sendbufs,
    const CFI_cdesc_t *sendcounts, const CFI_cdesc_t *senddispls, const CFI_cdesc_t *sendtypes,
    const MPI_Aint *recvbufs, const CFI_cdesc_t *recvcounts, const CFI_cdesc_t *recvdispls,
    const CFI_cdesc_t *recvtypes, const MPI_Fint *comm, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ALLTOALL, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendcounts_ = mpixf_copied(sendcounts, 0, NULL);
  mpixf_buffer senddispls_ = mpixf_copied(senddispls, 0, NULL);
  mpixf_buffer sendtypes_ = mpixf_copied(sendtypes, 0, NULL);
  mpixf_types sendtypes_in_c_;
  mpixf_types_of(&sendtypes_in_c_, sendtypes_.address, outdegree_, *nfields);
  mpixf_buffer recvcounts_ = mpixf_copied(recvcounts, 0, NULL);
  mpixf_buffer recvdispls_ = mpixf_copied(recvdispls, 0, NULL);
  mpixf_buffer recvtypes_ = mpixf_copied(recvtypes, 0, NULL);
  mpixf_types recvtypes_in_c_;
  mpixf_types_of(&recvtypes_in_c_, recvtypes_.address, indegree_, *nfields);
  code = MPIX_Ineighbor_alltoallw_fields(*nfields, (const void *const *)sendbufs, sendcounts_.address,
      senddispls_.address, sendtypes_in_c_.types, (void *const *)recvbufs, recvcounts_.address, recvdispls_.address,
      recvtypes_in_c_.types, MPI_Comm_f2c(*comm), request);
  mpixf_drop(&sendcounts_);
  mpixf_drop(&senddispls_);
  mpixf_drop(&sendtypes_);
  mpixf_types_end(&sendtypes_in_c_);
  mpixf_drop(&recvcounts_);
  mpixf_drop(&recvdispls_);
  mpixf_drop(&recvtypes_);
  mpixf_types_end(&recvtypes_in_c_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_alltoallw_fields_c(const MPI_Fint *nfields, const MPI_Aint *sendbufs,
    const CFI_cdesc_t *sendcounts, const CFI_cdesc_t *senddispls, const CFI_cdesc_t *sendtypes,
    const MPI_Aint *recvbufs, const CFI_cdesc_t *recvcounts, const CFI_cdesc_t *recvdispls,
    const CFI_cdesc_t *recvtypes, const MPI_Fint *comm, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ALLTOALL, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendcounts_ = mpixf_copied(sendcounts, 0, NULL);
  mpixf_buffer senddispls_ = mpixf_copied(senddispls, 0, NULL);
  mpixf_buffer sendtypes_ = mpixf_copied(sendtypes, 0, NULL);
  mpixf_types sendtypes_in_c_;
  mpixf_types_of(&sendtypes_in_c_, sendtypes_.address, outdegree_, *nfields);
  mpixf_buffer recvcounts_ = mpixf_copied(recvcounts, 0, NULL);
  mpixf_buffer recvdispls_ = mpixf_copied(recvdispls, 0, NULL);
  mpixf_buffer recvtypes_ = mpixf_copied(recvtypes, 0, NULL);
  mpixf_types recvtypes_in_c_;
  mpixf_types_of(&recvtypes_in_c_, recvtypes_.address, indegree_, *nfields);
  code = MPIX_Ineighbor_alltoallw_fields_c(*nfields, (const void *const *)sendbufs, sendcounts_.address,
      senddispls_.address, sendtypes_in_c_.types, (void *const *)recvbufs, recvcounts_.address, recvdispls_.address,
      recvtypes_in_c_.types, MPI_Comm_f2c(*comm), request);
  mpixf_drop(&sendcounts_);
  mpixf_drop(&senddispls_);
  mpixf_drop(&sendtypes_);
  mpixf_types_end(&sendtypes_in_c_);
  mpixf_drop(&recvcounts_);
  mpixf_drop(&recvdispls_);
  mpixf_drop(&recvtypes_);
  mpixf_types_end(&recvtypes_in_c_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoallw_fields_plan(const MPI_Fint *nfields, const MPI_Aint *sendbufs,
    const CFI_cdesc_t *sendcounts, const CFI_cdesc_t *senddispls, const CFI_cdesc_t *sendtypes,
    const MPI_Aint *recvbufs, const CFI_cdesc_t *recvcounts, const CFI_cdesc_t *recvdispls,
    const CFI_cdesc_t *recvtypes, const MPI_Fint *comm, const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ALLTOALL, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendcounts_ = mpixf_copied(sendcounts, 0, NULL);
  mpixf_buffer senddispls_ = mpixf_copied(senddispls, 0, NULL);
  mpixf_buffer sendtypes_ = mpixf_copied(sendtypes, 0, NULL);
  mpixf_types sendtypes_in_c_;
  mpixf_types_of(&sendtypes_in_c_, sendtypes_.address, outdegree_, *nfields);
  mpixf_buffer recvcounts_ = mpixf_copied(recvcounts, 0, NULL);
  mpixf_buffer recvdispls_ = mpixf_copied(recvdispls, 0, NULL);
  mpixf_buffer recvtypes_ = mpixf_copied(recvtypes, 0, NULL);
  mpixf_types recvtypes_in_c_;
  mpixf_types_of(&recvtypes_in_c_, recvtypes_.address, indegree_, *nfields);
  code = MPIX_Neighbor_alltoallw_fields_plan(*nfields, (const void *const *)sendbufs, sendcounts_.address,
      senddispls_.address, sendtypes_in_c_.types, (void *const *)recvbufs, recvcounts_.address, recvdispls_.address,
      recvtypes_in_c_.types, MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_drop(&sendcounts_);
  mpixf_drop(&senddispls_);
  mpixf_drop(&sendtypes_);
  mpixf_types_end(&sendtypes_in_c_);
  mpixf_drop(&recvcounts_);
  mpixf_drop(&recvdispls_);
  mpixf_drop(&recvtypes_);
  mpixf_types_end(&recvtypes_in_c_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_alltoallw_fields_plan_c(const MPI_Fint *nfields, const MPI_Aint *sendbufs,
    const CFI_cdesc_t *sendcounts, const CFI_cdesc_t *senddispls, const CFI_cdesc_t *sendtypes,
    const MPI_Aint *recvbufs, const CFI_cdesc_t *recvcounts, const CFI_cdesc_t *recvdispls,
    const CFI_cdesc_t *recvtypes, const MPI_Fint *comm, const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ALLTOALL, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendcounts_ = mpixf_copied(sendcounts, 0, NULL);
  mpixf_buffer senddispls_ = mpixf_copied(senddispls, 0, NULL);
  mpixf_buffer sendtypes_ = mpixf_copied(sendtypes, 0, NULL);
  mpixf_types sendtypes_in_c_;
  mpixf_types_of(&sendtypes_in_c_, sendtypes_.address, outdegree_, *nfields);
  mpixf_buffer recvcounts_ = mpixf_copied(recvcounts, 0, NULL);
  mpixf_buffer recvdispls_ = mpixf_copied(recvdispls, 0, NULL);
  mpixf_buffer recvtypes_ = mpixf_copied(recvtypes, 0, NULL);
  mpixf_types recvtypes_in_c_;
  mpixf_types_of(&recvtypes_in_c_, recvtypes_.address, indegree_, *nfields);
  code = MPIX_Neighbor_alltoallw_fields_plan_c(*nfields, (const void *const *)sendbufs, sendcounts_.address,
      senddispls_.address, sendtypes_in_c_.types, (void *const *)recvbufs, recvcounts_.address, recvdispls_.address,
      recvtypes_in_c_.types, MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_drop(&sendcounts_);
  mpixf_drop(&senddispls_);
  mpixf_drop(&sendtypes_);
  mpixf_types_end(&sendtypes_in_c_);
  mpixf_drop(&recvcounts_);
  mpixf_drop(&recvdispls_);
  mpixf_drop(&recvtypes_);
  mpixf_types_end(&recvtypes_in_c_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_reduce(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Fint *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense, const MPI_Fint *recvcount,
    const MPI_Fint *recvtype, const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_reduce(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address, *recvcount,
      MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_reduce_c(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Count *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense, const MPI_Count *recvcount,
    const MPI_Fint *recvtype, const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_reduce_c(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address, *recvcount,
      MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_reduce(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype,
    const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *op,
    const MPI_Fint *comm, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_reduce(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address, *recvcount,
      MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_reduce_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcount, const MPI_Fint *recvtype,
    const MPI_Fint *op, const MPI_Fint *comm, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_reduce_c(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_reduce_plan(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *recvtype,
    const MPI_Fint *op, const MPI_Fint *comm, const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_reduce_plan(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_reduce_plan_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcount, const MPI_Fint *recvtype,
    const MPI_Fint *op, const MPI_Fint *comm, const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_reduce_plan_c(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_reducev(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Fint *sendcounts,
    const MPI_Fint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense,
    const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_reducev(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_reducev_c(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Count *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense,
    const MPI_Count *recvcount, const MPI_Fint *recvtype, const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_reducev_c(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, *recvcount, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_reducev(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcounts,
    const MPI_Fint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcount,
    const MPI_Fint *recvtype, const MPI_Fint *op, const MPI_Fint *comm, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_reducev(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_reducev_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcount,
    const MPI_Fint *recvtype, const MPI_Fint *op, const MPI_Fint *comm, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_reducev_c(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, *recvcount, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_reducev_plan(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcounts,
    const MPI_Fint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcount,
    const MPI_Fint *recvtype, const MPI_Fint *op, const MPI_Fint *comm, const MPI_Fint *info, MPIX_Request *request,
    MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_reducev_plan(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, *recvcount, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info),
      request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_reducev_plan_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcount,
    const MPI_Fint *recvtype, const MPI_Fint *op, const MPI_Fint *comm, const MPI_Fint *info, MPIX_Request *request,
    MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_reducev_plan_c(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, *recvcount, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info),
      request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_accumulate(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Fint *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense, const MPI_Fint *recvcount,
    const MPI_Fint *recvtype, const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_accumulate(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_accumulate_c(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Count *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense, const MPI_Count *recvcount,
    const MPI_Fint *recvtype, const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_accumulate_c(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_accumulate(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *recvtype,
    const MPI_Fint *op, const MPI_Fint *comm, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_accumulate(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_accumulate_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcount, const MPI_Fint *recvtype,
    const MPI_Fint *op, const MPI_Fint *comm, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_accumulate_c(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_accumulate_plan(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *recvtype,
    const MPI_Fint *op, const MPI_Fint *comm, const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_accumulate_plan(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_accumulate_plan_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcount,
    const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcount, const MPI_Fint *recvtype,
    const MPI_Fint *op, const MPI_Fint *comm, const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_accumulate_plan_c(sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype), recvbuf_.address,
      *recvcount, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_accumulatev(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Fint *sendcounts,
    const MPI_Fint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense,
    const MPI_Fint *recvcounts, const MPI_Fint *recvdispls, const MPI_Fint *recvtype, const MPI_Fint *op,
    const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_accumulatev(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_accumulatev_c(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense,
    const MPI_Count *sendcounts, const MPI_Aint *senddispls, const MPI_Fint *sendtype,
    const CFI_cdesc_t *recvbuf, int recvbuf_is_dense, const MPI_Count *recvcounts, const MPI_Aint *recvdispls,
    const MPI_Fint *recvtype, const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Neighbor_accumulatev_c(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_accumulatev(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcounts,
    const MPI_Fint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcounts,
    const MPI_Fint *recvdispls, const MPI_Fint *recvtype, const MPI_Fint *op, const MPI_Fint *comm,
    MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_accumulatev(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_accumulatev_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcounts,
    const MPI_Aint *recvdispls, const MPI_Fint *recvtype, const MPI_Fint *op, const MPI_Fint *comm,
    MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Ineighbor_accumulatev_c(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_accumulatev_plan(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcounts,
    const MPI_Fint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcounts,
    const MPI_Fint *recvdispls, const MPI_Fint *recvtype, const MPI_Fint *op, const MPI_Fint *comm,
    const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_accumulatev_plan(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm),
      MPI_Info_f2c(*info), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_accumulatev_plan_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtype, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcounts,
    const MPI_Aint *recvdispls, const MPI_Fint *recvtype, const MPI_Fint *op, const MPI_Fint *comm,
    const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  int code = MPIX_Neighbor_accumulatev_plan_c(sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      recvbuf_.address, recvcounts, recvdispls, MPI_Type_f2c(*recvtype), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm),
      MPI_Info_f2c(*info), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_accumulatew(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Fint *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtypes, const CFI_cdesc_t *recvbuf, int recvbuf_is_dense,
    const MPI_Fint *recvcounts, const MPI_Aint *recvdispls, const MPI_Fint *recvtypes, const MPI_Fint *op,
    const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ACCUMULATE, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_types sendtypes_;
  mpixf_types_of(&sendtypes_, sendtypes, outdegree_, 1);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  mpixf_types recvtypes_;
  mpixf_types_of(&recvtypes_, recvtypes, indegree_, 1);
  code = MPIX_Neighbor_accumulatew(sendbuf_.address, sendcounts, senddispls, sendtypes_.types, recvbuf_.address,
      recvcounts, recvdispls, recvtypes_.types, MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_types_end(&sendtypes_);
  mpixf_give_back(&recvbuf_);
  mpixf_types_end(&recvtypes_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_accumulatew_c(const CFI_cdesc_t *sendbuf, int sendbuf_is_dense,
    const MPI_Count *sendcounts, const MPI_Aint *senddispls, const MPI_Fint *sendtypes,
    const CFI_cdesc_t *recvbuf, int recvbuf_is_dense, const MPI_Count *recvcounts, const MPI_Aint *recvdispls,
    const MPI_Fint *recvtypes, const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ACCUMULATE, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  mpixf_types sendtypes_;
  mpixf_types_of(&sendtypes_, sendtypes, outdegree_, 1);
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  mpixf_types recvtypes_;
  mpixf_types_of(&recvtypes_, recvtypes, indegree_, 1);
  code = MPIX_Neighbor_accumulatew_c(sendbuf_.address, sendcounts, senddispls, sendtypes_.types, recvbuf_.address,
      recvcounts, recvdispls, recvtypes_.types, MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_types_end(&sendtypes_);
  mpixf_give_back(&recvbuf_);
  mpixf_types_end(&recvtypes_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_accumulatew(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtypes, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcounts,
    const MPI_Aint *recvdispls, const MPI_Fint *recvtypes, const MPI_Fint *op, const MPI_Fint *comm,
    MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ACCUMULATE, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_types sendtypes_;
  mpixf_types_of(&sendtypes_, sendtypes, outdegree_, 1);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  mpixf_types recvtypes_;
  mpixf_types_of(&recvtypes_, recvtypes, indegree_, 1);
  code = MPIX_Ineighbor_accumulatew(sendbuf_.address, sendcounts, senddispls, sendtypes_.types, recvbuf_.address,
      recvcounts, recvdispls, recvtypes_.types, MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), request);
  mpixf_types_end(&sendtypes_);
  mpixf_types_end(&recvtypes_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Ineighbor_accumulatew_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtypes, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcounts,
    const MPI_Aint *recvdispls, const MPI_Fint *recvtypes, const MPI_Fint *op, const MPI_Fint *comm,
    MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ACCUMULATE, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_types sendtypes_;
  mpixf_types_of(&sendtypes_, sendtypes, outdegree_, 1);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  mpixf_types recvtypes_;
  mpixf_types_of(&recvtypes_, recvtypes, indegree_, 1);
  code = MPIX_Ineighbor_accumulatew_c(sendbuf_.address, sendcounts, senddispls, sendtypes_.types, recvbuf_.address,
      recvcounts, recvdispls, recvtypes_.types, MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), request);
  mpixf_types_end(&sendtypes_);
  mpixf_types_end(&recvtypes_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_accumulatew_plan(const CFI_cdesc_t *sendbuf, const MPI_Fint *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtypes, const CFI_cdesc_t *recvbuf, const MPI_Fint *recvcounts,
    const MPI_Aint *recvdispls, const MPI_Fint *recvtypes, const MPI_Fint *op, const MPI_Fint *comm,
    const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ACCUMULATE, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_types sendtypes_;
  mpixf_types_of(&sendtypes_, sendtypes, outdegree_, 1);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  mpixf_types recvtypes_;
  mpixf_types_of(&recvtypes_, recvtypes, indegree_, 1);
  code = MPIX_Neighbor_accumulatew_plan(sendbuf_.address, sendcounts, senddispls, sendtypes_.types, recvbuf_.address,
      recvcounts, recvdispls, recvtypes_.types, MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_types_end(&sendtypes_);
  mpixf_types_end(&recvtypes_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_accumulatew_plan_c(const CFI_cdesc_t *sendbuf, const MPI_Count *sendcounts,
    const MPI_Aint *senddispls, const MPI_Fint *sendtypes, const CFI_cdesc_t *recvbuf, const MPI_Count *recvcounts,
    const MPI_Aint *recvdispls, const MPI_Fint *recvtypes, const MPI_Fint *op, const MPI_Fint *comm,
    const MPI_Fint *info, MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  int indegree_ = 0, outdegree_ = 0;
  int code = mpixf_degrees(MPIX_NEIGHBOR_ACCUMULATE, MPI_Comm_f2c(*comm), &indegree_, &outdegree_);
  if (code != MPI_SUCCESS) {
    mpixf_end(ierror, code);
    return;
  }
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  mpixf_types sendtypes_;
  mpixf_types_of(&sendtypes_, sendtypes, outdegree_, 1);
  mpixf_buffer recvbuf_ = mpixf_direct(recvbuf);
  mpixf_types recvtypes_;
  mpixf_types_of(&recvtypes_, recvtypes, indegree_, 1);
  code = MPIX_Neighbor_accumulatew_plan_c(sendbuf_.address, sendcounts, senddispls, sendtypes_.types, recvbuf_.address,
      recvcounts, recvdispls, recvtypes_.types, MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), request);
  mpixf_types_end(&sendtypes_);
  mpixf_types_end(&recvtypes_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_start(MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Request_start(request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_startall(const MPI_Fint *count, MPIX_Request *requests, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Request_startall(*count, requests);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_test(MPIX_Request *request, MPI_Fint *flag, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Request_test(request, flag);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_testall(const MPI_Fint *count, MPIX_Request *requests, MPI_Fint *flag, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Request_testall(*count, requests, flag);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_wait(MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Request_wait(request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_waitall(const MPI_Fint *count, MPIX_Request *requests, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Request_waitall(*count, requests);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_waitany(const MPI_Fint *count, MPIX_Request *requests, MPI_Fint *index, MPI_Fint *ierror) {
  mpixf_begin();
  *index = MPI_UNDEFINED;
  int code = MPIX_Request_waitany(*count, requests, index);
  mpixf_to_one(1, index);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_testany(const MPI_Fint *count, MPIX_Request *requests, MPI_Fint *index, MPI_Fint *flag,
    MPI_Fint *ierror) {
  mpixf_begin();
  *index = MPI_UNDEFINED;
  int code = MPIX_Request_testany(*count, requests, index, flag);
  mpixf_to_one(1, index);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_waitsome(const MPI_Fint *count, MPIX_Request *requests, MPI_Fint *outcount,
    MPI_Fint *indices, MPI_Fint *ierror) {
  mpixf_begin();
  *outcount = 0;
  int code = MPIX_Request_waitsome(*count, requests, outcount, indices);
  mpixf_to_one(*outcount, indices);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_testsome(const MPI_Fint *count, MPIX_Request *requests, MPI_Fint *outcount,
    MPI_Fint *indices, MPI_Fint *ierror) {
  mpixf_begin();
  *outcount = 0;
  int code = MPIX_Request_testsome(*count, requests, outcount, indices);
  mpixf_to_one(*outcount, indices);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_free(MPIX_Request *request, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Request_free(request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_test_source(const MPIX_Request *request, const MPI_Fint *index, MPI_Fint *flag,
    MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Request_test_source(*request, mpixf_from_one(*index), flag);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_wait_source(const MPIX_Request *request, const MPI_Fint *index, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Request_wait_source(*request, mpixf_from_one(*index));
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_waitany_source(const MPIX_Request *request, MPI_Fint *index, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Request_waitany_source(*request, index);
  if (code == MPI_SUCCESS) mpixf_to_one(1, index);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_waitsome_source(const MPIX_Request *request, MPI_Fint *outcount, MPI_Fint *indices,
    MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Request_waitsome_source(*request, outcount, indices);
  if (code == MPI_SUCCESS) mpixf_to_one(*outcount, indices);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Request_testsome_source(const MPIX_Request *request, MPI_Fint *outcount, MPI_Fint *indices,
    MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Request_testsome_source(*request, outcount, indices);
  if (code == MPI_SUCCESS) mpixf_to_one(*outcount, indices);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_exchange(const MPI_Fint *ntargets, const MPI_Fint *targets,
    const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Fint *sendcounts, const MPI_Fint *senddispls,
    const MPI_Fint *sendtype, const MPI_Fint *recvtype, const MPI_Fint *info, const MPI_Fint *comm,
    MPIX_Sparse_result *result, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Sparse_exchange(*ntargets, targets, sendbuf_.address, sendcounts, senddispls, MPI_Type_f2c(*sendtype),
      MPI_Type_f2c(*recvtype), MPI_Info_f2c(*info), MPI_Comm_f2c(*comm), result);
  mpixf_drop(&sendbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_exchange_c(const MPI_Fint *ntargets, const MPI_Fint *targets,
    const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Count *sendcounts, const MPI_Aint *senddispls,
    const MPI_Fint *sendtype, const MPI_Fint *recvtype, const MPI_Fint *info, const MPI_Fint *comm,
    MPIX_Sparse_result *result, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Sparse_exchange_c(*ntargets, targets, sendbuf_.address, sendcounts, senddispls,
      MPI_Type_f2c(*sendtype), MPI_Type_f2c(*recvtype), MPI_Info_f2c(*info), MPI_Comm_f2c(*comm), result);
  mpixf_drop(&sendbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_exchange_block(const MPI_Fint *ntargets, const MPI_Fint *targets,
    const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Fint *sendcount, const MPI_Fint *sendtype,
    const MPI_Fint *recvtype, const MPI_Fint *info, const MPI_Fint *comm, MPIX_Sparse_result *result,
    MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Sparse_exchange_block(*ntargets, targets, sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype),
      MPI_Type_f2c(*recvtype), MPI_Info_f2c(*info), MPI_Comm_f2c(*comm), result);
  mpixf_drop(&sendbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_exchange_block_c(const MPI_Fint *ntargets, const MPI_Fint *targets,
    const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Count *sendcount, const MPI_Fint *sendtype,
    const MPI_Fint *recvtype, const MPI_Fint *info, const MPI_Fint *comm, MPIX_Sparse_result *result,
    MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Sparse_exchange_block_c(*ntargets, targets, sendbuf_.address, *sendcount, MPI_Type_f2c(*sendtype),
      MPI_Type_f2c(*recvtype), MPI_Info_f2c(*info), MPI_Comm_f2c(*comm), result);
  mpixf_drop(&sendbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_sources(const MPI_Fint *ntargets, const MPI_Fint *targets, const MPI_Fint *info,
    const MPI_Fint *comm, MPIX_Sparse_result *result, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_sources(*ntargets, targets, MPI_Info_f2c(*info), MPI_Comm_f2c(*comm), result);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_exchange_each(const MPI_Fint *ntargets, const MPI_Fint *targets,
    const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Fint *sendcounts, const MPI_Fint *senddispls,
    const MPI_Fint *sendtype, const MPI_Fint *recvtype, MPIX_Sparse_function function, void *context,
    const MPI_Fint *info, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Sparse_exchange_each(*ntargets, targets, sendbuf_.address, sendcounts, senddispls,
      MPI_Type_f2c(*sendtype), MPI_Type_f2c(*recvtype), function, context, MPI_Info_f2c(*info), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_exchange_each_c(const MPI_Fint *ntargets, const MPI_Fint *targets,
    const CFI_cdesc_t *sendbuf, int sendbuf_is_dense, const MPI_Count *sendcounts, const MPI_Aint *senddispls,
    const MPI_Fint *sendtype, const MPI_Fint *recvtype, MPIX_Sparse_function function, void *context,
    const MPI_Fint *info, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_copied(sendbuf, sendbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Sparse_exchange_each_c(*ntargets, targets, sendbuf_.address, sendcounts, senddispls,
      MPI_Type_f2c(*sendtype), MPI_Type_f2c(*recvtype), function, context, MPI_Info_f2c(*info), MPI_Comm_f2c(*comm));
  mpixf_drop(&sendbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Isparse_exchange(const MPI_Fint *ntargets, const MPI_Fint *targets, const CFI_cdesc_t *sendbuf,
    const MPI_Fint *sendcounts, const MPI_Fint *senddispls, const MPI_Fint *sendtype, const MPI_Fint *recvtype,
    const MPI_Fint *info, const MPI_Fint *comm, MPIX_Sparse_request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  int code = MPIX_Isparse_exchange(*ntargets, targets, sendbuf_.address, sendcounts, senddispls,
      MPI_Type_f2c(*sendtype), MPI_Type_f2c(*recvtype), MPI_Info_f2c(*info), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Isparse_exchange_c(const MPI_Fint *ntargets, const MPI_Fint *targets, const CFI_cdesc_t *sendbuf,
    const MPI_Count *sendcounts, const MPI_Aint *senddispls, const MPI_Fint *sendtype, const MPI_Fint *recvtype,
    const MPI_Fint *info, const MPI_Fint *comm, MPIX_Sparse_request *request, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  int code = MPIX_Isparse_exchange_c(*ntargets, targets, sendbuf_.address, sendcounts, senddispls,
      MPI_Type_f2c(*sendtype), MPI_Type_f2c(*recvtype), MPI_Info_f2c(*info), MPI_Comm_f2c(*comm), request);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_test(MPIX_Sparse_request *request, MPI_Fint *flag, MPIX_Sparse_result *result,
    MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_test(request, flag, result);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_wait(MPIX_Sparse_request *request, MPIX_Sparse_result *result, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_wait(request, result);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_get_count(const MPIX_Sparse_result *result, MPI_Fint *nmessages, MPI_Count *nelements,
    MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_get_count(*result, nmessages, nelements);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_get_message(const MPIX_Sparse_result *result, const MPI_Fint *index, MPI_Fint *source,
    MPI_Count *count, void **data, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_get_message(*result, mpixf_from_one(*index), source, count, data);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_get_messages(const MPIX_Sparse_result *result, const MPI_Fint *maxmessages,
    MPI_Fint *sources, MPI_Fint *counts, MPI_Fint *displs, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_get_messages(*result, *maxmessages, sources, counts, displs);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_get_messages_c(const MPIX_Sparse_result *result, const MPI_Fint *maxmessages,
    MPI_Fint *sources, MPI_Count *counts, MPI_Aint *displs, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_get_messages_c(*result, *maxmessages, sources, counts, displs);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_copy(const MPIX_Sparse_result *result, const MPI_Count *maxcount,
    const CFI_cdesc_t *recvbuf, int recvbuf_is_dense, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer recvbuf_ = mpixf_copied(recvbuf, recvbuf_is_dense, MPI_IN_PLACE);
  int code = MPIX_Sparse_copy(*result, *maxcount, recvbuf_.address);
  mpixf_give_back(&recvbuf_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_free(MPIX_Sparse_result *result, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_free(result);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_describe(const MPI_Fint *comm, const CFI_cdesc_t *string, MPI_Fint *resultlen,
    MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_text string_ = mpixf_text_room(string);
  int code = MPIX_Sparse_describe(MPI_Comm_f2c(*comm), string_.length, string_.text, resultlen);
  mpixf_text_end(&string_, code);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_plan_create(const MPI_Fint *ntargets, const MPI_Fint *targets, const CFI_cdesc_t *sendbuf,
    const MPI_Fint *sendcounts, const MPI_Fint *senddispls, const MPI_Fint *sendtype, const MPI_Fint *recvtype,
    const MPI_Fint *info, const MPI_Fint *comm, MPIX_Sparse_plan *plan, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  int code = MPIX_Sparse_plan_create(*ntargets, targets, sendbuf_.address, sendcounts, senddispls,
      MPI_Type_f2c(*sendtype), MPI_Type_f2c(*recvtype), MPI_Info_f2c(*info), MPI_Comm_f2c(*comm), plan);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_plan_create_c(const MPI_Fint *ntargets, const MPI_Fint *targets, const CFI_cdesc_t *sendbuf,
    const MPI_Count *sendcounts, const MPI_Aint *senddispls, const MPI_Fint *sendtype, const MPI_Fint *recvtype,
    const MPI_Fint *info, const MPI_Fint *comm, MPIX_Sparse_plan *plan, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer sendbuf_ = mpixf_direct(sendbuf);
  int code = MPIX_Sparse_plan_create_c(*ntargets, targets, sendbuf_.address, sendcounts, senddispls,
      MPI_Type_f2c(*sendtype), MPI_Type_f2c(*recvtype), MPI_Info_f2c(*info), MPI_Comm_f2c(*comm), plan);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_plan_start(const MPIX_Sparse_plan *plan, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_plan_start(*plan);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_plan_test(const MPIX_Sparse_plan *plan, MPI_Fint *flag, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_plan_test(*plan, flag);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_plan_wait(const MPIX_Sparse_plan *plan, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_plan_wait(*plan);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_plan_result(const MPIX_Sparse_plan *plan, MPIX_Sparse_result *result, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_plan_result(*plan, result);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_plan_free(MPIX_Sparse_plan *plan, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_plan_free(plan);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_create(const CFI_cdesc_t *base, const MPI_Fint *count, const MPI_Fint *type,
    const MPI_Fint *info, const MPI_Fint *comm, MPIX_Sparse_window *window, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer base_ = mpixf_direct(base);
  int code = MPIX_Sparse_window_create(base_.address, *count, MPI_Type_f2c(*type), MPI_Info_f2c(*info),
      MPI_Comm_f2c(*comm), window);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_create_c(const CFI_cdesc_t *base, const MPI_Count *count, const MPI_Fint *type,
    const MPI_Fint *info, const MPI_Fint *comm, MPIX_Sparse_window *window, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer base_ = mpixf_direct(base);
  int code = MPIX_Sparse_window_create_c(base_.address, *count, MPI_Type_f2c(*type), MPI_Info_f2c(*info),
      MPI_Comm_f2c(*comm), window);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_put(const CFI_cdesc_t *origin, int origin_is_dense, const MPI_Fint *count,
    const MPI_Fint *target, const MPI_Aint *indices, const MPIX_Sparse_window *window, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer origin_ = mpixf_copied(origin, origin_is_dense, MPI_IN_PLACE);
  int code = MPIX_Sparse_window_put(origin_.address, *count, *target, indices, *window);
  mpixf_drop(&origin_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_put_c(const CFI_cdesc_t *origin, int origin_is_dense, const MPI_Count *count,
    const MPI_Fint *target, const MPI_Aint *indices, const MPIX_Sparse_window *window, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer origin_ = mpixf_copied(origin, origin_is_dense, MPI_IN_PLACE);
  int code = MPIX_Sparse_window_put_c(origin_.address, *count, *target, indices, *window);
  mpixf_drop(&origin_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_get(const CFI_cdesc_t *result, const MPI_Fint *count, const MPI_Fint *target,
    const MPI_Aint *indices, const MPIX_Sparse_window *window, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer result_ = mpixf_direct(result);
  int code = MPIX_Sparse_window_get(result_.address, *count, *target, indices, *window);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_get_c(const CFI_cdesc_t *result, const MPI_Count *count, const MPI_Fint *target,
    const MPI_Aint *indices, const MPIX_Sparse_window *window, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer result_ = mpixf_direct(result);
  int code = MPIX_Sparse_window_get_c(result_.address, *count, *target, indices, *window);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_accumulate(const CFI_cdesc_t *origin, int origin_is_dense, const MPI_Fint *count,
    const MPI_Fint *target, const MPI_Aint *indices, const MPI_Fint *op, const MPIX_Sparse_window *window,
    MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer origin_ = mpixf_copied(origin, origin_is_dense, MPI_IN_PLACE);
  int code = MPIX_Sparse_window_accumulate(origin_.address, *count, *target, indices, MPI_Op_f2c(*op), *window);
  mpixf_drop(&origin_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_accumulate_c(const CFI_cdesc_t *origin, int origin_is_dense, const MPI_Count *count,
    const MPI_Fint *target, const MPI_Aint *indices, const MPI_Fint *op, const MPIX_Sparse_window *window,
    MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer origin_ = mpixf_copied(origin, origin_is_dense, MPI_IN_PLACE);
  int code = MPIX_Sparse_window_accumulate_c(origin_.address, *count, *target, indices, MPI_Op_f2c(*op), *window);
  mpixf_drop(&origin_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_fetch_and_op(const CFI_cdesc_t *origin, const CFI_cdesc_t *result,
    const MPI_Fint *count, const MPI_Fint *target, const MPI_Aint *indices, const MPI_Fint *op,
    const MPIX_Sparse_window *window, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer origin_ = mpixf_copied(origin, 0, MPI_IN_PLACE);
  mpixf_buffer result_ = mpixf_direct(result);
  int code = MPIX_Sparse_window_fetch_and_op(origin_.address, result_.address, *count, *target, indices,
      MPI_Op_f2c(*op), *window);
  mpixf_drop(&origin_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_fetch_and_op_c(const CFI_cdesc_t *origin, const CFI_cdesc_t *result,
    const MPI_Count *count, const MPI_Fint *target, const MPI_Aint *indices, const MPI_Fint *op,
    const MPIX_Sparse_window *window, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer origin_ = mpixf_copied(origin, 0, MPI_IN_PLACE);
  mpixf_buffer result_ = mpixf_direct(result);
  int code = MPIX_Sparse_window_fetch_and_op_c(origin_.address, result_.address, *count, *target, indices,
      MPI_Op_f2c(*op), *window);
  mpixf_drop(&origin_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_compare_and_swap(const CFI_cdesc_t *origin, const CFI_cdesc_t *compare,
    const CFI_cdesc_t *result, const MPI_Fint *count, const MPI_Fint *target, const MPI_Aint *indices,
    const MPIX_Sparse_window *window, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer origin_ = mpixf_copied(origin, 0, MPI_IN_PLACE);
  mpixf_buffer compare_ = mpixf_copied(compare, 0, MPI_IN_PLACE);
  mpixf_buffer result_ = mpixf_direct(result);
  int code = MPIX_Sparse_window_compare_and_swap(origin_.address, compare_.address, result_.address, *count, *target,
      indices, *window);
  mpixf_drop(&origin_);
  mpixf_drop(&compare_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_compare_and_swap_c(const CFI_cdesc_t *origin, const CFI_cdesc_t *compare,
    const CFI_cdesc_t *result, const MPI_Count *count, const MPI_Fint *target, const MPI_Aint *indices,
    const MPIX_Sparse_window *window, MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_buffer origin_ = mpixf_copied(origin, 0, MPI_IN_PLACE);
  mpixf_buffer compare_ = mpixf_copied(compare, 0, MPI_IN_PLACE);
  mpixf_buffer result_ = mpixf_direct(result);
  int code = MPIX_Sparse_window_compare_and_swap_c(origin_.address, compare_.address, result_.address, *count, *target,
      indices, *window);
  mpixf_drop(&origin_);
  mpixf_drop(&compare_);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_add_operator(const MPI_Fint *op, const MPIX_Sparse_window *window,
    MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_window_add_operator(MPI_Op_f2c(*op), *window);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_fence(const MPIX_Sparse_window *window, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_window_fence(*window);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_flush(const MPIX_Sparse_window *window, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_window_flush(*window);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Sparse_window_free(MPIX_Sparse_window *window, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Sparse_window_free(window);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Loggp_measure(const MPI_Fint *info, const MPI_Fint *comm, MPIX_Loggp *parameters,
    MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Loggp_measure(MPI_Info_f2c(*info), MPI_Comm_f2c(*comm), parameters);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Loggp_set(const MPIX_Loggp *parameters, const MPI_Fint *comm, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Loggp_set(parameters, MPI_Comm_f2c(*comm));
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Loggp_get(const MPI_Fint *comm, MPIX_Loggp *parameters, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Loggp_get(MPI_Comm_f2c(*comm), parameters);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_get_version(MPI_Fint *major, MPI_Fint *minor, MPI_Fint *patch, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Neighbor_get_version(major, minor, patch);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_error_class(const MPI_Fint *which, MPI_Fint *errorclass, MPI_Fint *ierror) {
  mpixf_begin();
  int code = MPIX_Neighbor_error_class(*which, errorclass);
  mpixf_end(ierror, code);
}

MPIXF_API void mpixf_Neighbor_error_string(const MPI_Fint *comm, const CFI_cdesc_t *string, MPI_Fint *resultlen,
    MPI_Fint *ierror) {
  mpixf_begin();
  mpixf_text string_ = mpixf_text_room(string);
  int code = MPIX_Neighbor_error_string(MPI_Comm_f2c(*comm), string_.length, string_.text, resultlen);
  mpixf_text_end(&string_, code);
  mpixf_end(ierror, code);
}
