/* Makes an MPI take the device memory of the stand-in driver: the functions through which
   messages go find the address at which it can be touched. Comes before the MPI, and behind the
   library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

static int device_blocks, messages, staged;

/* how many blocks in device memory MPI has been given, and how many messages in all */
int standin_device_blocks(void) { return device_blocks; }
int standin_messages(void) { return messages; }

/* how many messages of a process to itself went from or to device memory */
int standin_staged(void) { return staged; }

static void *at(const void *buffer) {
  static void *(*alias)(const void *);
  if (!alias) *(void **)&alias = dlsym(RTLD_DEFAULT, "standin_alias");
  void *found = alias ? alias(buffer) : NULL;
  if (found) device_blocks++;
  return found ? found : (void *)buffer;
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
  messages++;
  return PMPI_Isend(at(buf), count, type, dest, tag, comm, request);
}

int MPI_Issend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
  messages++;
  return PMPI_Issend(at(buf), count, type, dest, tag, comm, request);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
  return PMPI_Irecv(at(buf), count, type, source, tag, comm, request);
}

int MPI_Imrecv(void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
  return PMPI_Imrecv(at(buf), count, type, message, request);
}

int MPI_Send_init(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
  return PMPI_Send_init(at(buf), count, type, dest, tag, comm, request);
}

int MPI_Recv_init(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
  return PMPI_Recv_init(at(buf), count, type, source, tag, comm, request);
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
  int blocks = device_blocks;
  messages++;
  sendbuf = at(sendbuf), recvbuf = at(recvbuf);
  staged += device_blocks > blocks;
  return PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status);
}

/* the collectives that the preload library passes on, and compares with */
int MPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                           MPI_Comm comm) {
  return PMPI_Neighbor_allgather(at(sendbuf), sendcount, sendtype, at(recvbuf), recvcount, recvtype, comm);
}

int MPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                          MPI_Comm comm) {
  return PMPI_Neighbor_alltoall(at(sendbuf), sendcount, sendtype, at(recvbuf), recvcount, recvtype, comm);
}

int MPI_Pack(const void *inbuf, int incount, MPI_Datatype type, void *outbuf, int outsize, int *position, MPI_Comm comm) {
  return PMPI_Pack(at(inbuf), incount, type, outbuf, outsize, position, comm);
}

int MPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype type, MPI_Comm comm) {
  return PMPI_Unpack(inbuf, insize, position, at(outbuf), outcount, type, comm);
}
