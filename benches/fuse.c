/* Several fields in one exchange: one message for all fields of an edge beside one for each.
 *
 * Cases: 6 neighbors each way, the 3 next ones on both sides of a ring of processes (repeated where
 * there are fewer); 2, 4 and 8 fields, each in memory of its own, with blocks of 8 B to 64 KiB;
 * blocks contiguous, or each second double of twice as many. Alternatives:
 * MPIX_Neighbor_alltoallw_fields_plan with mpix_fuse = true, false and auto; a plan for each field,
 * with MPIX_Request_startall and _waitall; by hand Irecv and Isend of a struct datatype for each
 * edge, and (contiguous blocks) of a buffer into and out of which memcpy brings the fields.
 *
 * After each number of fields stands the crossing: the block from which `false` takes less time
 * than `true`, beside the one at which `auto` changes its mind.
 *
 * Method: see measure.h. */
#define _GNU_SOURCE
#include "measure.h"
#include <mpix_neighbor.h>

enum { EDGES = 6, MOST_FIELDS = 8 };

struct problem {
  MPI_Comm comm;
  int fields, bytes, blocks; /* bytes of data in a block; blocks: of all fields */
  size_t room;               /* bytes of a block with its holes */
  int sources[EDGES], targets[EDGES], counts[MOST_FIELDS * EDGES];
  MPI_Aint displs[MOST_FIELDS * EDGES];
  MPI_Datatype type, types[MOST_FIELDS * EDGES];
  char *send[MOST_FIELDS], *recv[MOST_FIELDS];
  MPIX_Request plan, plans[MOST_FIELDS];
  MPI_Datatype edges_out[EDGES], edges_in[EDGES]; /* all fields of an edge, at absolute addresses */
  MPI_Request requests[2 * EDGES];
  char *packed_out, *packed_in;
};

static const void *const *sendbufs(const problem *p) { return (const void *const *)p->send; }
static void *const *recvbufs(const problem *p) { return (void *const *)p->recv; }

/* ---- the alternatives */

static void plan(problem *p) {
  MPIX_Request_start(&p->plan);
  MPIX_Request_wait(&p->plan);
}

static void plans(problem *p) {
  MPIX_Request_startall(p->fields, p->plans);
  MPIX_Request_waitall(p->fields, p->plans);
}

static void structs(problem *p) {
  for (int j = 0; j < EDGES; j++) MPI_Irecv(MPI_BOTTOM, 1, p->edges_in[j], p->sources[j], 1, p->comm, &p->requests[j]);
  for (int i = 0; i < EDGES; i++) MPI_Isend(MPI_BOTTOM, 1, p->edges_out[i], p->targets[i], 1, p->comm, &p->requests[EDGES + i]);
  MPI_Waitall(2 * EDGES, p->requests, MPI_STATUSES_IGNORE);
}

static void packed(problem *p) {
  const size_t bytes = (size_t)p->bytes, message = bytes * (size_t)p->fields;
  for (int j = 0; j < EDGES; j++) MPI_Irecv(p->packed_in + (size_t)j * message, (int)message, MPI_BYTE, p->sources[j], 2, p->comm, &p->requests[j]);
  for (int i = 0; i < EDGES; i++) {
    char *to = p->packed_out + (size_t)i * message;
    for (int f = 0; f < p->fields; f++) memcpy(to + (size_t)f * bytes, p->send[f] + (size_t)i * bytes, bytes);
    MPI_Isend(to, (int)message, MPI_BYTE, p->targets[i], 2, p->comm, &p->requests[EDGES + i]);
  }
  MPI_Waitall(2 * EDGES, p->requests, MPI_STATUSES_IGNORE);
  for (int j = 0; j < EDGES; j++)
    for (int f = 0; f < p->fields; f++) memcpy(p->recv[f] + (size_t)j * bytes, p->packed_in + (size_t)j * message + (size_t)f * bytes, bytes);
}

/* ---- the problem */

static void make(problem *p, MPI_Comm comm, const int *sources, const int *targets, int fields, int bytes, int strided) {
  *p = (problem){.comm = comm, .fields = fields, .bytes = bytes, .blocks = fields * EDGES, .room = (size_t)bytes * (strided ? 2 : 1)};
  int count = strided ? 1 : bytes / (int)sizeof(double);
  p->type = MPI_DOUBLE;
  if (strided) {
    MPI_Type_vector(bytes / (int)sizeof(double), 1, 2, MPI_DOUBLE, &p->type);
    MPI_Type_commit(&p->type);
  }
  memcpy(p->sources, sources, sizeof p->sources), memcpy(p->targets, targets, sizeof p->targets);
  for (int f = 0; f < fields; f++) p->send[f] = need(EDGES * p->room), p->recv[f] = need(EDGES * p->room);
  for (int b = 0; b < p->blocks; b++) p->counts[b] = count, p->displs[b] = (MPI_Aint)(b % EDGES * p->room), p->types[b] = p->type;
  for (int f = 0; f < fields; f++)
    MPIX_Neighbor_alltoallw_plan(p->send[f], p->counts, p->displs, p->types, p->recv[f], p->counts, p->displs, p->types, comm, MPI_INFO_NULL, &p->plans[f]);
  for (int e = 0; e < EDGES; e++) {
    MPI_Aint out[MOST_FIELDS], in[MOST_FIELDS];
    for (int f = 0; f < fields; f++) {
      MPI_Get_address(p->send[f] + e * p->room, &out[f]);
      MPI_Get_address(p->recv[f] + e * p->room, &in[f]);
    }
    MPI_Type_create_struct(fields, p->counts, out, p->types, &p->edges_out[e]);
    MPI_Type_create_struct(fields, p->counts, in, p->types, &p->edges_in[e]);
    MPI_Type_commit(&p->edges_out[e]), MPI_Type_commit(&p->edges_in[e]);
  }
  p->packed_out = need((size_t)p->blocks * bytes), p->packed_in = need((size_t)p->blocks * bytes);
}

/* the same with a plan for all fields */
static problem with_plan(const problem *p, const char *fuse) {
  problem with = *p;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_fuse", fuse);
  MPIX_Neighbor_alltoallw_fields_plan(p->fields, sendbufs(p), p->counts, p->displs, p->types, recvbufs(p), p->counts, p->displs, p->types, p->comm, info, &with.plan);
  MPI_Info_free(&info);
  return with;
}

static void discard(problem *p) {
  for (int f = 0; f < p->fields; f++) MPIX_Request_free(&p->plans[f]), free(p->send[f]), free(p->recv[f]);
  for (int e = 0; e < EDGES; e++) MPI_Type_free(&p->edges_out[e]), MPI_Type_free(&p->edges_in[e]);
  if (p->type != MPI_DOUBLE) MPI_Type_free(&p->type);
  free(p->packed_out), free(p->packed_in);
}

/* Ends the program unless the k-th edge from a process brings what that sent on its k-th edge to
   this one, of each field. */
static void check(const alternative *a) {
  problem *p = a->on;
  for (int f = 0; f < p->fields; f++) {
    memset(p->recv[f], 0, EDGES * p->room);
    for (size_t i = 0; i < EDGES * p->room; i++) p->send[f][i] = (char)mix((uint64_t)me << 40 | (uint64_t)f << 32 | i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  a->run(p);
  /* edge e has the same direction in all lists, on all processes */
  for (int f = 0; f < p->fields; f++)
    for (size_t i = 0; i < EDGES * p->room; i++) {
      int hole = p->room > (size_t)p->bytes && i / sizeof(double) % 2;
      char expected = hole ? 0 : (char)mix((uint64_t)p->sources[i / p->room] << 40 | (uint64_t)f << 32 | i);
      if (p->recv[f][i] == expected) continue;
      fprintf(stderr, "%s: wrong byte %zu of field %d\n", a->name, i, f);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* ---- measuring */

enum { TRUE, FALSE, AUTO, PLANS, STRUCTS, PACKED, ALL };

/* the time of `false` to that of `true` */
static double ratio_of(samples *s) { return s->count ? typical(s->times[FALSE], s->count) / typical(s->times[TRUE], s->count) : NAN; }

/* `ratios`: of `false` to `true`; the block at which it passes 1 for the last time, between two
   sizes by the logarithms of both */
static double crossing(const int *sizes, const double *ratios, int count) {
  double at = NAN;
  for (int s = 0; s + 1 < count; s++) {
    if (!(ratios[s] >= 1 && ratios[s + 1] < 1)) continue;
    double part = log(ratios[s]) / (log(ratios[s]) - log(ratios[s + 1]));
    at = exp(log(sizes[s]) + part * (log(sizes[s + 1]) - log(sizes[s])));
  }
  return at;
}

static void print_crossing(const char *label, const char *where, const int *sizes, const double *ratios, int count, int fields, double startup) {
  double at = crossing(sizes, ratios, count), model = (fields - 1) * startup / (2 * fields);
  if (me != 0 || isnan(ratios[0])) return;
  printf("# %s, %s: ", label, where);
  if (isnan(at)) printf("no crossing, false/true is %.2f at the first size and %.2f at the last", ratios[0], ratios[count - 1]);
  else printf("blocks of %.0f B, as with a startup of %.0f B", at, at * 2 * fields / (fields - 1));
  printf("; auto: %.0f B, startup %.0f B\n", model, startup);
}

int main(int argc, char **argv) {
  static const int sizes[] = {8, 64, 256, 1024, 2048, 4096, 8192, 16384, 65536}, numbers[] = {2, 4, 8};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  const char *only = begin(argc, argv, "fields [--rounds N] [--seconds S] [--quantile Q] [--only contiguous|strided]");
  print_header("microseconds an exchange (ratio to mpix_fuse=true)");
  if (me == 0) printf("# case                     cores rounds    true\n");
  int sources[EDGES], targets[EDGES];
  for (int e = 0; e < EDGES; e++) {
    /* no edge to the process itself, where there are others */
    int offset = (e / 2 + 1) * (e % 2 ? 1 : -1);
    if (offset % n == 0) offset = 1;
    targets[e] = ((me + offset) % n + n) % n, sources[e] = ((me - offset) % n + n) % n;
  }
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, EDGES, sources, MPI_UNWEIGHTED, EDGES, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, comm);
  MPIX_Loggp model;
  MPIX_Loggp_get(comm, &model);
  double startup = (model.latency + model.send_overhead + model.recv_overhead) / model.gap_per_byte;
  for (int strided = 0; strided < 2; strided++) {
    if (*only && strided != !strcmp(only, "strided")) continue;
    for (int k = 0; k < 3; k++) {
      double near_ratios[SIZES], far_ratios[SIZES];
      int tried[SIZES], count = 0;
      char label[64];
      for (int s = 0; s < SIZES; s += crowded ? 2 : 1) {
        problem p, on[3];
        make(&p, comm, sources, targets, numbers[k], sizes[s], strided);
        on[TRUE] = with_plan(&p, "true"), on[FALSE] = with_plan(&p, "false"), on[AUTO] = with_plan(&p, "auto");
        const alternative list[ALL] = {{"true", plan, &on[TRUE]}, {"false", plan, &on[FALSE]}, {"auto", plan, &on[AUTO]},
                                       {"plans", plans, &p},      {"struct", structs, &p},     {"packed", packed, &p}};
        int alternatives = strided ? PACKED : ALL;
        for (int a = 0; a < alternatives; a++) check(&list[a]);
        samples near, far;
        sample(list, alternatives, &near, &far);
        snprintf(label, sizeof label, "%d fields%s, %s", numbers[k], strided ? ", strided" : "", size_name(sizes[s]));
        print_line(label, line ? "near" : "all", list, alternatives, &near);
        print_line(label, "far", list, alternatives, &far);
        near_ratios[count] = ratio_of(&near), far_ratios[count] = ratio_of(&far);
        tried[count++] = sizes[s];
        release_samples(&near), release_samples(&far);
        for (int a = TRUE; a <= AUTO; a++) MPIX_Request_free(&on[a].plan);
        discard(&p);
      }
      snprintf(label, sizeof label, "%d fields%s", numbers[k], strided ? ", strided" : "");
      print_crossing(label, line ? "near" : "all", tried, near_ratios, count, numbers[k], startup);
      print_crossing(label, "far", tried, far_ratios, count, numbers[k], startup);
    }
  }
  MPI_Comm_free(&comm);
  end();
  return 0;
}
