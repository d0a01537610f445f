/* Two galaxies that meet: particles under gravity by the Barnes-Hut method, in cells of space that
 * move with them.
 *
 *   mpicc -std=c11 -O2 -Iinclude examples/nbody.c -lmpix_neighbor -lm -o nbody
 *   mpirun -n 4 ./nbody --particles 4000 --steps 200 --flat --picture nbody.svg
 *
 * Space is cut into as many cells as there are processes, by orthogonal recursive bisection: across
 * its longest dimension, so that both sides have the same work, and so on. A process owns the
 * particles of its cell. In each step:
 *
 *   migration         Particles that have left their cell move to the process that owns their
 *                     place. Only who sends knows of it: MPIX_Sparse_exchange, with a struct type
 *                     for particles.
 *   essential trees   For forces each process needs other particles too: near ones one by one,
 *                     farther ones as the centers of cells of a tree. Each process knows where the
 *                     others' particles are, and so which part of its tree they need:
 *                     MPIX_Sparse_exchange again. One that needs a process's particles as a single
 *                     center only gets no message: all centers are gathered together with the
 *                     places.
 *
 * When the work of the busiest process is too far above the average, space is cut anew.
 *
 * Checked, with an exit code that is 0 if all is well: the forces on some particles at the start
 * against direct summation; that no particle is lost or doubled, in each step; the energy; and the
 * places of all particles at the end against a serial run on process 0, unless that would take too
 * long. Results are not equal to the last bit: a cell of the tree that lies on both sides of a cut
 * is two centers instead of one, and sums have another order. So the limit is what approximating by
 * trees does to a serial run: its distance from one that adds up all pairs. With --theta 0 there is
 * no approximation, and only the order of additions differs.
 *
 * The method and the use of a sparse exchange: Hoefler, Siebert, Lumsdaine, Scalable Communication
 * Protocols for Dynamic Sparse Data Exchange, 2010, section 5.2. Essential trees: Salmon, 1991.
 * Spheres: Plummer, 1911; discs: Kuzmin, 1956.
 *
 * No return code is looked at, of MPI_ and MPIX_ functions alike: communicators keep the default
 * error handler, MPI_ERRORS_ARE_FATAL, which this library calls as MPI does. */

#include <float.h>
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <mpix_neighbor.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "options.h"
#include "svg.h"

enum { DIMS = 3, LEAF = 8, DEEPEST = 60, CUTS = 31, PASSES = 7, SAMPLES = 64, MOST_LINES = 20, MOST_DOTS = 6000 };
static const double MOST_PAIRS = 2e9; /* over all steps of a serial run */
/* two particles attract each other as if they were never nearer */
static const double SOFTENING = 0.05;
static const double PI = 3.14159265358979323846;

static const char usage[] =
    "usage: nbody [options]\n"
    "  --particles N      of both galaxies together (1500)\n"
    "  --steps N          steps to compute (100)\n"
    "  --dt T             length of a step; a galaxy has mass 0.5 and radius 1, the constant of gravity is 1 (0.025)\n"
    "  --theta T          a cell is a single center from its side / T on; 0: all pairs; at most 0.57 (0.5)\n"
    "  --imbalance R      cut space anew when a process has this much more work than the average (0.05)\n"
    "  --flat             discs in a plane instead of spheres\n"
    "  --seed N           of the random numbers (1)\n"
    "  --protocol NAME    the library's protocol: info key mpix_sparse (auto)\n"
    "  --picture FILE     write the particles, their cells and the numbers of neighbors as an SVG\n";

typedef struct {
  int particles, steps, seed, flat, help;
  double dt, theta, imbalance;
  const char *protocol, *picture;
} options;

typedef struct {
  double x[DIMS], v[DIMS], mass;
  int64_t id;
} particle;

/* what forces come from: a particle, or the center of a cell */
typedef struct {
  double x[DIMS], mass;
} body;

/* -------------------------------------------------------------------------------------- options */

static int parse_real(const char *text, double least, double most, double *number) {
  char *end;
  *number = text ? strtod(text, &end) : 0;
  return text != NULL && end != text && *end == '\0' && *number >= least && *number <= most;
}

/* All processes have the same arguments, so that all of them find the same error. Returns the
   argument that is wrong, or NULL. Past the end of argv stands a NULL, which no parser accepts. */
static const char *parse(char **argv, options *o) {
  *o = (options){.particles = 1500, .steps = 100, .seed = 1, .dt = 0.025, .theta = 0.5, .imbalance = 0.05};
  o->protocol = "auto";
  for (char **a = argv + 1; *a != NULL; a++) {
    const char *name = *a;
    int ok = 1;
    if (strcmp(name, "--particles") == 0) ok = parse_int(a[1], 100, 1000000000, &o->particles) && *++a != NULL;
    else if (strcmp(name, "--steps") == 0) ok = parse_int(a[1], 0, 1000000000, &o->steps) && *++a != NULL;
    else if (strcmp(name, "--dt") == 0) ok = parse_real(a[1], 0, 1, &o->dt) && *++a != NULL;
    /* a cell's center is nearer than its diagonal to a particle in it, which must not take it for a
       center */
    else if (strcmp(name, "--theta") == 0) ok = parse_real(a[1], 0, 0.57, &o->theta) && *++a != NULL;
    else if (strcmp(name, "--imbalance") == 0) ok = parse_real(a[1], 0, 1e9, &o->imbalance) && *++a != NULL;
    else if (strcmp(name, "--seed") == 0) ok = parse_int(a[1], 0, 1000000000, &o->seed) && *++a != NULL;
    else if (strcmp(name, "--protocol") == 0) ok = a[1] != NULL && (o->protocol = *++a) != NULL;
    else if (strcmp(name, "--picture") == 0) ok = a[1] != NULL && (o->picture = *++a) != NULL;
    else if (strcmp(name, "--flat") == 0) o->flat = 1;
    else if (strcmp(name, "--help") == 0) o->help = 1;
    else ok = 0;
    if (!ok) return name;
  }
  return NULL;
}

/* --------------------------------------------------------------------------------- the galaxies */

static void any_direction(uint64_t *stream, double length, double to[DIMS]) {
  double z = 2 * next_real(stream) - 1, angle = 2 * PI * next_real(stream), r = length * sqrt(1 - z * z);
  to[0] = r * cos(angle);
  to[1] = r * sin(angle);
  to[2] = length * z;
}

/* A sphere in equilibrium, of mass 1 and radius 1. The most distant particles are left out. */
static void plummer(uint64_t *stream, particle *p) {
  double r = 1 / sqrt(pow(0.97 * next_real(stream) + 1e-9, -2.0 / 3) - 1), q, g;
  do { /* speed as a part of the one that would leave the sphere */
    q = next_real(stream);
    g = 0.1 * next_real(stream);
  } while (g > q * q * pow(1 - q * q, 3.5));
  any_direction(stream, r, p->x);
  any_direction(stream, q * sqrt(2) * pow(1 + r * r, -0.25), p->v);
}

/* A disc whose particles go round in circles. */
static void kuzmin(uint64_t *stream, double sense, particle *p) {
  double u = 1 - 0.85 * next_real(stream), r = sqrt(1 / (u * u) - 1), angle = 2 * PI * next_real(stream);
  double v = sense * r * pow(1 + r * r, -0.75);
  *p = (particle){.x = {r * cos(angle), r * sin(angle)}, .v = {-v * sin(angle), v * cos(angle)}};
}

/* Particle `id`: a function of seed and number, so that any number of processes makes the same
   galaxies. Each has half of the mass of 1. They fall toward each other, not quite head-on, as from
   far away. */
static particle make_particle(const options *o, int id) {
  static const double place[DIMS] = {1.6, 0.4, 0}, speed[DIMS] = {-0.38, 0, 0};
  uint64_t stream = mix(mix((uint64_t)o->seed) + (uint64_t)id);
  double side = id % 2 ? 1 : -1;
  particle p;
  if (o->flat) kuzmin(&stream, side, &p);
  else plummer(&stream, &p);
  for (int d = 0; d < DIMS; d++) {
    p.x[d] += side * place[d];
    p.v[d] = p.v[d] * sqrt(0.5) + side * speed[d]; /* half of the mass: slower */
  }
  p.mass = 1.0 / o->particles;
  p.id = id;
  return p;
}

/* ------------------------------------------------------------------------------------- the tree */

typedef struct {
  double lo[DIMS], hi[DIMS];
} box;

static const box nowhere = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};

static void include(box *b, const double x[DIMS]) {
  for (int d = 0; d < DIMS; d++) {
    b->lo[d] = fmin(b->lo[d], x[d]);
    b->hi[d] = fmax(b->hi[d], x[d]);
  }
}

static double longest_side(const box *b, int *dimension) {
  double longest = -1; /* of a box with nothing in it */
  *dimension = 0;
  for (int d = 0; d < DIMS; d++) {
    if (b->hi[d] - b->lo[d] <= longest) continue;
    longest = b->hi[d] - b->lo[d];
    *dimension = d;
  }
  return longest;
}

/* A cube of space, or the part of it that is left when all its bodies lie in one eighth, and
   again. */
typedef struct {
  double center[DIMS], mass, side; /* of mass, not of the cube */
  int begin, end;                  /* bodies */
  int child, children;             /* nodes behind one another; a leaf has none */
} node;

typedef struct {
  body *bodies, *scratch; /* sorted so that those of a node lie behind one another */
  node *nodes;
  int count, room;
} tree;

static int new_nodes(tree *t, int n) {
  if (t->count + n > t->room) {
    t->room = 2 * t->room + n;
    t->nodes = resize(t->nodes, (size_t)t->room, sizeof *t->nodes);
  }
  t->count += n;
  return t->count - n;
}

/* Sorts bodies begin to end - 1 into the eighths around `middle`; eighth i begins at starts[i]. */
static void sort_eighths(tree *t, int begin, int end, const double middle[DIMS], int starts[9]) {
  int next[8] = {0};
  for (int pass = 0; pass < 2; pass++) {
    for (int i = begin; i < end; i++) {
      const double *x = t->bodies[i].x;
      int eighth = (x[0] >= middle[0]) + 2 * (x[1] >= middle[1]) + 4 * (x[2] >= middle[2]);
      if (pass == 0) next[eighth]++;
      else t->scratch[next[eighth]++] = t->bodies[i];
    }
    for (int i = 0, sum = begin; pass == 0 && i < 8; i++) {
      int count = next[i];
      starts[i] = next[i] = sum;
      sum += count;
    }
  }
  starts[8] = end;
  memcpy(t->bodies + begin, t->scratch + begin, (size_t)(end - begin) * sizeof *t->bodies);
}

static void fill_node(tree *t, int index, int begin, int end, const double corner[DIMS], double side, int depth) {
  int starts[9], children = 0, only = 0;
  double low[DIMS], middle[DIMS];
  memcpy(low, corner, sizeof low);
  /* bodies at the same place cannot be told apart */
  while (end - begin > LEAF && depth < DEEPEST) {
    side /= 2;
    depth++;
    for (int d = 0; d < DIMS; d++) middle[d] = low[d] + side;
    sort_eighths(t, begin, end, middle, starts);
    children = 0;
    for (int i = 0; i < 8; i++) {
      if (starts[i] == starts[i + 1]) continue;
      children++;
      only = i;
    }
    if (children > 1) break;
    for (int d = 0; d < DIMS; d++) low[d] += only >> d & 1 ? side : 0;
    children = 0;
  }
  node n = {.side = children ? 2 * side : side, .begin = begin, .end = end, .children = children};
  if (children > 0) {
    int child = n.child = new_nodes(t, children);
    for (int i = 0; i < 8; i++) {
      if (starts[i] == starts[i + 1]) continue;
      double at[DIMS];
      for (int d = 0; d < DIMS; d++) at[d] = low[d] + (i >> d & 1 ? side : 0);
      fill_node(t, child, starts[i], starts[i + 1], at, side, depth);
      const node *c = &t->nodes[child++];
      n.mass += c->mass;
      for (int d = 0; d < DIMS; d++) n.center[d] += c->mass * c->center[d];
    }
  } else {
    for (int i = begin; i < end; i++) {
      n.mass += t->bodies[i].mass;
      for (int d = 0; d < DIMS; d++) n.center[d] += t->bodies[i].mass * t->bodies[i].x[d];
    }
  }
  for (int d = 0; d < DIMS && n.mass > 0; d++) n.center[d] /= n.mass;
  t->nodes[index] = n;
}

/* Sorts `bodies` into a tree, which keeps pointing there. `all`: where the bodies of all processes
   are; all trees of a step are cut at the same places, so that a cell of one is a cell of the
   others too. */
static tree make_tree(body *bodies, int n, const box *all) {
  int dimension;
  double side = longest_side(all, &dimension);
  tree t = {.bodies = bodies, .scratch = allocate((size_t)n, sizeof *bodies)};
  int root = new_nodes(&t, 1);
  fill_node(&t, root, 0, n, all->lo, side, 0);
  free(t.scratch);
  return t;
}

typedef struct {
  double force[DIMS]; /* on a mass of 1 */
  double potential;
  int64_t work; /* bodies and cells that were added up */
} pull;

static void add_pull(pull *p, const double x[DIMS], const double y[DIMS], double mass) {
  double r[DIMS] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
  double inverse = 1 / sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + SOFTENING * SOFTENING);
  double strength = mass * inverse * inverse * inverse;
  for (int d = 0; d < DIMS; d++) p->force[d] += strength * r[d];
  p->potential -= mass * inverse;
  p->work++;
}

/* The pull of all bodies of the tree on the particle at x, itself included, which adds no force but
   a potential. */
static pull attract(const tree *t, const double x[DIMS], double theta) {
  int stack[8 * (DEEPEST + 2)], depth = 0;
  pull p = {{0}, 0, 0};
  stack[depth++] = 0;
  while (depth > 0) {
    const node *n = &t->nodes[stack[--depth]];
    double r[DIMS] = {n->center[0] - x[0], n->center[1] - x[1], n->center[2] - x[2]};
    if (n->side * n->side < theta * theta * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]))
      add_pull(&p, x, n->center, n->mass);
    else if (n->children == 0)
      for (int i = n->begin; i < n->end; i++) add_pull(&p, x, t->bodies[i].x, t->bodies[i].mass);
    else
      for (int c = n->child; c < n->child + n->children; c++) stack[depth++] = c;
  }
  return p;
}

/* ------------------------------------------------------------------------ a process's particles */

/* Space cut in two, and the parts again. */
typedef struct {
  int first, processes; /* that the part is for; if it is one, it owns the part */
  /* particles with x[dimension] < cut go to part `below`, others to the one behind it */
  int dimension, below;
  double cut;
} part;

/* what happened in a step at a process */
typedef struct {
  /* processes and particles of the migration; the same of the trees */
  int64_t targets, moved, essential, bodies;
  int64_t particles, work;
  uint64_t ids; /* sum over scrambled numbers, which doubled and lost ones would hardly keep */
  double energy;
} report;

typedef struct {
  const options *o;
  int rank, P;
  /* auto goes by what travelled before: each exchange has its communicator */
  MPI_Comm comm, migration, essential;
  MPI_Info info;
  MPI_Datatype particle_type, body_type;
  particle *particles;
  pull *pulls; /* of each particle */
  int n;
  part *parts;
  report now;
  double seconds[2]; /* in the migration and in the exchange of trees */
} simulation;

static void make_types(simulation *s) {
  int lengths[] = {2 * DIMS + 1, 1};
  MPI_Aint places[] = {0, offsetof(particle, id)};
  MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT64_T}, structure;
  MPI_Type_create_struct(2, lengths, places, types, &structure);
  MPI_Type_create_resized(structure, 0, sizeof(particle), &s->particle_type);
  MPI_Type_free(&structure);
  MPI_Type_commit(&s->particle_type);
  MPI_Type_contiguous(DIMS + 1, MPI_DOUBLE, &s->body_type);
  MPI_Type_commit(&s->body_type);
}

static simulation begin_simulation(const options *o, MPI_Comm comm) {
  simulation s = {.o = o, .comm = comm};
  MPI_Comm_rank(comm, &s.rank);
  MPI_Comm_size(comm, &s.P);
  MPI_Comm_dup(comm, &s.migration);
  MPI_Comm_dup(comm, &s.essential);
  MPI_Info_create(&s.info);
  MPI_Info_set(s.info, "mpix_sparse", o->protocol);
  make_types(&s);
  s.parts = allocate(2 * (size_t)s.P, sizeof *s.parts);
  int first = block_start(o->particles, s.P, s.rank);
  s.n = block_start(o->particles, s.P, s.rank + 1) - first;
  s.particles = allocate((size_t)s.n, sizeof *s.particles);
  s.pulls = allocate((size_t)s.n, sizeof *s.pulls);
  for (int i = 0; i < s.n; i++) {
    s.particles[i] = make_particle(o, first + i);
    s.pulls[i].work = 1;
  }
  return s;
}

static void end_simulation(simulation *s) {
  free(s->particles);
  free(s->pulls);
  free(s->parts);
  MPI_Type_free(&s->particle_type);
  MPI_Type_free(&s->body_type);
  MPI_Info_free(&s->info);
  MPI_Comm_free(&s->migration);
  MPI_Comm_free(&s->essential);
}

static int owner_of(const simulation *s, const double x[DIMS]) {
  const part *p = s->parts;
  while (p->processes > 1) p = s->parts + p->below + (x[p->dimension] >= p->cut);
  return p->first;
}

/* For parts begin to end - 1: where the particles in them are. */
static void measure_parts(const simulation *s, const int *at, int begin, int end, box *boxes) {
  int n = end - begin;
  for (int k = 0; k < n; k++) boxes[k] = nowhere;
  for (int i = 0; i < s->n; i++)
    if (at[i] >= begin) include(&boxes[at[i] - begin], s->particles[i].x);
  /* the largest is the least with another sign: so one reduction will do */
  for (int k = 0; k < n; k++)
    for (int d = 0; d < DIMS; d++) boxes[k].hi[d] = -boxes[k].hi[d];
  MPI_Allreduce(MPI_IN_PLACE, boxes, 2 * DIMS * n, MPI_DOUBLE, MPI_MIN, s->comm);
  for (int k = 0; k < n; k++)
    for (int d = 0; d < DIMS; d++) boxes[k].hi[d] = -boxes[k].hi[d];
}

/* The c-th of the places between lo and hi where a cut is tried. */
static double cut_between(double lo, double hi, int c) { return lo + (hi - lo) * (c + 1) / (CUTS + 1); }

/* Finds the place where part k is cut: lo[k] and hi[k] enclose it, and draw together. All parts at
   the same time, several places in a reduction. */
static void find_cuts(const simulation *s, const int *at, int begin, int end, double *lo, double *hi) {
  int n = end - begin;
  size_t size = (size_t)n * (CUTS + 1);
  int64_t *below = allocate(size, sizeof *below); /* work below each place, and then all of it */
  for (int pass = 0; pass < PASSES; pass++) {
    memset(below, 0, size * sizeof *below);
    for (int i = 0; i < s->n; i++) {
      int k = at[i] - begin;
      if (k < 0 || s->parts[at[i]].processes == 1) continue;
      double x = s->particles[i].x[s->parts[at[i]].dimension];
      int64_t *w = &below[k * (CUTS + 1)];
      w[CUTS] += s->pulls[i].work;
      for (int c = CUTS - 1; c >= 0 && x < cut_between(lo[k], hi[k], c); c--) w[c] += s->pulls[i].work;
    }
    MPI_Allreduce(MPI_IN_PLACE, below, (int)size, MPI_INT64_T, MPI_SUM, s->comm);
    for (int k = 0; k < n; k++) {
      const int64_t *w = &below[k * (CUTS + 1)];
      int c = 0, all = s->parts[begin + k].processes, half = all / 2;
      while (c < CUTS && w[c] * all < w[CUTS] * half) c++;
      double low = c > 0 ? cut_between(lo[k], hi[k], c - 1) : lo[k];
      if (c < CUTS) hi[k] = cut_between(lo[k], hi[k], c);
      lo[k] = low;
    }
  }
  free(below);
}

/* Cuts space anew, by the work of each particle in the last step. All parts of a level are cut at
   the same time. Sums of work are whole numbers, and places are computed from what is equal
   everywhere: so all processes cut alike. */
static void cut_space(simulation *s) {
  int begin = 0, end = 1, *at = ints(s->n); /* the part of each particle */
  box *boxes = allocate((size_t)s->P, sizeof *boxes);
  double *lo = allocate((size_t)s->P, sizeof *lo), *hi = allocate((size_t)s->P, sizeof *hi);
  s->parts[0] = (part){.processes = s->P};
  /* there is a part for several processes: a part for each makes so many of all */
  while (end < 2 * s->P - 1) {
    int more = end;
    measure_parts(s, at, begin, end, boxes);
    for (int k = begin; k < end; k++) {
      part *p = &s->parts[k];
      double length = longest_side(&boxes[k - begin], &p->dimension);
      /* if it is empty, any cut will do */
      lo[k - begin] = length < 0 ? 0 : boxes[k - begin].lo[p->dimension];
      hi[k - begin] = length < 0 ? 0 : boxes[k - begin].hi[p->dimension];
    }
    find_cuts(s, at, begin, end, lo, hi);
    for (int k = begin; k < end; k++) {
      part *p = &s->parts[k];
      if (p->processes == 1) continue;
      int half = p->processes / 2;
      p->cut = hi[k - begin];
      p->below = more;
      more += 2;
      s->parts[p->below] = (part){.first = p->first, .processes = half};
      s->parts[p->below + 1] = (part){.first = p->first + half, .processes = p->processes - half};
    }
    for (int i = 0; i < s->n; i++) {
      const part *p = &s->parts[at[i]];
      if (p->processes > 1) at[i] = p->below + (s->particles[i].x[p->dimension] >= p->cut);
    }
    begin = end;
    end = more;
  }
  free(at);
  free(boxes);
  free(lo);
  free(hi);
}

/* The processes with a count that is not 0, their counts, and where each one's part starts. Returns
   how many there are. */
static int keep_nonzero(int P, const int *all, int *ranks, int *counts, int *displs) {
  int n = 0, sum = 0;
  for (int p = 0; p < P; p++) {
    if (all[p] == 0) continue;
    ranks[n] = p;
    counts[n] = all[p];
    displs[n++] = sum;
    sum += all[p];
  }
  return n;
}

/* Brings particles to the processes that own their places. Those that stay keep their order and lie
   before those that come, which are in the order of their sources: so each run on as many processes
   adds in the same order. */
static void migrate(simulation *s) {
  int P = s->P, *owner = ints(s->n), *all = ints(P), *next = ints(P), staying = 0, leaving = 0;
  int *targets = ints(P), *counts = ints(P), *displs = ints(P);
  for (int i = 0; i < s->n; i++) {
    owner[i] = owner_of(s, s->particles[i].x);
    if (owner[i] == s->rank) continue;
    all[owner[i]]++;
    leaving++;
  }
  int n = keep_nonzero(P, all, targets, counts, displs);
  for (int k = 0; k < n; k++) next[targets[k]] = displs[k];
  particle *out = allocate((size_t)leaving, sizeof *out);
  for (int i = 0; i < s->n; i++) {
    if (owner[i] == s->rank) s->particles[staying++] = s->particles[i];
    else out[next[owner[i]]++] = s->particles[i];
  }
  double t = MPI_Wtime();
  MPIX_Sparse_result result;
  MPIX_Sparse_exchange(n, targets, out, counts, displs, s->particle_type, s->particle_type, s->info, s->migration,
                       &result);
  int messages;
  MPI_Count coming;
  MPIX_Sparse_get_count(result, &messages, &coming);
  s->n = staying + (int)coming;
  s->particles = resize(s->particles, (size_t)s->n, sizeof *s->particles);
  MPIX_Sparse_copy(result, coming, s->particles + staying);
  MPIX_Sparse_free(&result);
  s->seconds[0] += MPI_Wtime() - t;
  s->pulls = resize(s->pulls, (size_t)s->n, sizeof *s->pulls);
  s->now.targets = n;
  s->now.moved = leaving;
  free(owner);
  free(all);
  free(next);
  free(targets);
  free(counts);
  free(displs);
  free(out);
}

/* ----------------------------------------------------------------------------------- the forces */

/* what all processes know of a process's particles */
typedef struct {
  box where;
  body center;
} summary; /* 10 doubles */

typedef struct {
  body *at;
  int count, room;
} body_list;

static void add_body(body_list *l, const double x[DIMS], double mass) {
  if (l->count == l->room) {
    l->room = l->room ? 2 * l->room : 256;
    l->at = resize(l->at, (size_t)l->room, sizeof *l->at);
  }
  l->at[l->count++] = (body){{x[0], x[1], x[2]}, mass};
}

/* Returns true if something of this size around x is a single center for all that is in the box. */
static int far_away(const box *b, const double x[DIMS], double size, double theta) {
  double square = 0;
  for (int d = 0; d < DIMS; d++) {
    double r = fmax(0, fmax(b->lo[d] - x[d], x[d] - b->hi[d]));
    square += r * r;
  }
  return size * size < theta * theta * square;
}

/* The part of a tree that is needed for particles in the box. */
static void collect(const tree *t, int index, const box *b, double theta, body_list *l) {
  const node *n = &t->nodes[index];
  if (far_away(b, n->center, n->side, theta)) {
    add_body(l, n->center, n->mass);
  } else if (n->children == 0) {
    for (int i = n->begin; i < n->end; i++) add_body(l, t->bodies[i].x, t->bodies[i].mass);
  } else {
    for (int c = n->child; c < n->child + n->children; c++) collect(t, c, b, theta, l);
  }
}

static summary summarize(const simulation *s) {
  summary mine = {nowhere, {{0}, 0}};
  for (int i = 0; i < s->n; i++) {
    const particle *p = &s->particles[i];
    include(&mine.where, p->x);
    mine.center.mass += p->mass;
    for (int d = 0; d < DIMS; d++) mine.center.x[d] += p->mass * p->x[d];
  }
  for (int d = 0; d < DIMS && s->n > 0; d++) mine.center.x[d] /= mine.center.mass;
  return mine;
}

/* Sends parts of the process's tree to others, and adds to `l` what it needs of theirs. */
static void exchange_trees(simulation *s, const tree *t, const summary *all, body_list *l) {
  int P = s->P, n = 0, dimension, *targets = ints(P), *counts = ints(P), *displs = ints(P);
  const summary *mine = &all[s->rank];
  body_list out = {0};
  for (int q = 0; q < P; q++) {
    if (q == s->rank || s->n == 0 || all[q].center.mass == 0) continue;
    if (far_away(&all[q].where, mine->center.x, longest_side(&mine->where, &dimension), s->o->theta)) continue;
    targets[n] = q;
    displs[n] = out.count;
    collect(t, 0, &all[q].where, s->o->theta, &out);
    counts[n] = out.count - displs[n];
    n++;
  }
  double begin = MPI_Wtime();
  MPIX_Sparse_result result;
  MPIX_Sparse_exchange(n, targets, out.at, counts, displs, s->body_type, s->body_type, s->info, s->essential, &result);
  int messages;
  MPI_Count coming;
  MPIX_Sparse_get_count(result, &messages, &coming);
  if (l->room < l->count + (int)coming) {
    l->room = l->count + (int)coming;
    l->at = resize(l->at, (size_t)l->room, sizeof *l->at);
  }
  MPIX_Sparse_copy(result, coming, l->at + l->count);
  l->count += (int)coming;
  int *sources = ints(messages + 1);
  MPIX_Sparse_get_messages(result, messages, sources, NULL, NULL);
  MPIX_Sparse_free(&result);
  s->seconds[1] += MPI_Wtime() - begin;
  /* who has particles and sent nothing of its tree is far away */
  sources[messages] = P;
  for (int p = 0, k = 0; p < P; p++) {
    if (p == sources[k]) k++;
    else if (p != s->rank && all[p].center.mass > 0) add_body(l, all[p].center.x, all[p].center.mass);
  }
  s->now.essential = n;
  s->now.bodies = out.count;
  free(sources);
  free(targets);
  free(counts);
  free(displs);
  free(out.at);
}

/* The forces on particles, from a tree with all bodies. */
static void attract_all(const tree *t, double theta, const particle *particles, int n, pull *pulls) {
  for (int i = 0; i < n; i++) {
    pulls[i] = attract(t, particles[i].x, theta);
    pulls[i].potential += particles[i].mass / SOFTENING; /* its own */
  }
}

static void compute_forces(simulation *s) {
  summary *all = allocate((size_t)s->P, sizeof *all), mine = summarize(s);
  MPI_Allgather(&mine, 10, MPI_DOUBLE, all, 10, MPI_DOUBLE, s->comm);
  box everywhere = nowhere;
  for (int p = 0; p < s->P; p++) {
    if (all[p].center.mass == 0) continue;
    include(&everywhere, all[p].where.lo);
    include(&everywhere, all[p].where.hi);
  }
  body_list l = {0};
  for (int i = 0; i < s->n; i++) add_body(&l, s->particles[i].x, s->particles[i].mass);
  tree t = make_tree(l.at, l.count, &everywhere);
  exchange_trees(s, &t, all, &l);
  free(t.nodes);
  t = make_tree(l.at, l.count, &everywhere);
  attract_all(&t, s->o->theta, s->particles, s->n, s->pulls);
  free(t.nodes);
  free(l.at);
  free(all);
}

static void kick(particle *particles, const pull *pulls, int n, double dt) {
  for (int i = 0; i < n; i++)
    for (int d = 0; d < DIMS; d++) particles[i].v[d] += dt * pulls[i].force[d];
}

static void drift(particle *particles, int n, double dt) {
  for (int i = 0; i < n; i++)
    for (int d = 0; d < DIMS; d++) particles[i].x[d] += dt * particles[i].v[d];
}

/* ----------------------------------------------------------------------------------- the checks */

/* How far the forces on some particles are from direct summation: root of the mean square, relative
   to that of the forces. */
static double check_forces(const simulation *s) {
  double x[SAMPLES][2 * DIMS] = {{0}}, exact[SAMPLES][DIMS] = {{0}}, error = 0, size = 0;
  int N = s->o->particles, samples = N < SAMPLES ? N : SAMPLES;
  for (int i = 0; i < s->n; i++) {
    /* places and forces of those whose numbers are the firsts of blocks */
    for (int k = 0; k < samples; k++) {
      if (block_start(N, samples, k) != s->particles[i].id) continue;
      memcpy(x[k], s->particles[i].x, DIMS * sizeof(double));
      memcpy(x[k] + DIMS, s->pulls[i].force, DIMS * sizeof(double));
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, x, SAMPLES * 2 * DIMS, MPI_DOUBLE, MPI_SUM, s->comm);
  for (int k = 0; k < samples; k++) {
    pull p = {{0}, 0, 0};
    for (int i = 0; i < s->n; i++) add_pull(&p, x[k], s->particles[i].x, s->particles[i].mass);
    memcpy(exact[k], p.force, sizeof p.force);
  }
  MPI_Allreduce(MPI_IN_PLACE, exact, SAMPLES * DIMS, MPI_DOUBLE, MPI_SUM, s->comm);
  for (int k = 0; k < samples; k++) {
    for (int d = 0; d < DIMS; d++) {
      error += pow(x[k][DIMS + d] - exact[k][d], 2);
      size += exact[k][d] * exact[k][d];
    }
  }
  return sqrt(error / size);
}

static int ascending_id(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Returns true if each number is there once; it is sent to the process that made the particle,
   which looks. */
static int all_unique(const simulation *s) {
  int N = s->o->particles, P = s->P, first = block_start(N, P, s->rank), made = block_start(N, P, s->rank + 1) - first;
  int *ids = ints(s->n), *all = ints(P), *targets = ints(P), *counts = ints(P), *displs = ints(P), good = 1;
  for (int i = 0; i < s->n; i++) {
    ids[i] = (int)s->particles[i].id;
    good = good && ids[i] >= 0 && ids[i] < N;
    if (good) all[block_owner(N, P, ids[i])]++;
  }
  qsort(ids, (size_t)s->n, sizeof *ids, ascending_id);
  int n = good ? keep_nonzero(P, all, targets, counts, displs) : 0;
  MPIX_Sparse_result result;
  MPIX_Sparse_exchange(n, targets, ids, counts, displs, MPI_INT, MPI_INT, s->info, s->comm, &result);
  int messages;
  MPI_Count coming;
  MPIX_Sparse_get_count(result, &messages, &coming);
  int *came = ints((int)coming);
  MPIX_Sparse_copy(result, coming, came);
  MPIX_Sparse_free(&result);
  char *seen = allocate((size_t)made, 1);
  good = good && coming == made;
  for (int i = 0; good && i < made; i++) good = came[i] >= first && came[i] < first + made && !seen[came[i] - first]++;
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, s->comm);
  free(ids);
  free(all);
  free(targets);
  free(counts);
  free(displs);
  free(came);
  free(seen);
  return good;
}

/* The whole simulation without communication; particles by their numbers. */
static particle *serial_run(const options *o, double theta) {
  int N = o->particles;
  particle *particles = allocate((size_t)N, sizeof *particles);
  body *bodies = allocate((size_t)N, sizeof *bodies);
  pull *pulls = allocate((size_t)N, sizeof *pulls);
  for (int i = 0; i < N; i++) particles[i] = make_particle(o, i);
  for (int step = 0; step <= o->steps; step++) {
    if (step > 0) {
      kick(particles, pulls, N, o->dt / 2);
      drift(particles, N, o->dt);
    }
    box everywhere = nowhere;
    for (int i = 0; i < N; i++) {
      memcpy(bodies[i].x, particles[i].x, sizeof bodies[i].x);
      bodies[i].mass = particles[i].mass;
      include(&everywhere, bodies[i].x);
    }
    tree t = make_tree(bodies, N, &everywhere);
    attract_all(&t, theta, particles, N, pulls);
    free(t.nodes);
    if (step > 0) kick(particles, pulls, N, o->dt / 2);
  }
  free(bodies);
  free(pulls);
  return particles;
}

/* Particles on process 0, in the order of processes; of those whose numbers can be divided by
   `stride`. */
static particle *gather(const simulation *s, int stride, int *counts) {
  int n = 0, sum = 0, *displs = ints(s->P);
  particle *some = allocate((size_t)s->n, sizeof *some);
  for (int i = 0; i < s->n; i++)
    if (s->particles[i].id % stride == 0) some[n++] = s->particles[i];
  MPI_Gather(&n, 1, MPI_INT, counts, 1, MPI_INT, 0, s->comm);
  for (int p = 0; s->rank == 0 && p < s->P; sum += counts[p++]) displs[p] = sum;
  particle *all = allocate((size_t)sum, sizeof *all);
  MPI_Gatherv(some, n, s->particle_type, all, counts, displs, s->particle_type, 0, s->comm);
  free(some);
  free(displs);
  return all;
}

/* Root of the mean square distance of the same particles; those of `a` are in any order. */
static double difference(const particle *a, const particle *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int d = 0; d < DIMS; d++) sum += pow(a[i].x[d] - b[a[i].id].x[d], 2);
  return sqrt(sum / n);
}

/* Compares places with a serial run; on process 0. distance[0]: from it; distance[1]: what is
   allowed. */
static void compare(const simulation *s, double distance[2]) {
  int *counts = ints(s->P), N = s->o->particles;
  particle *all = gather(s, 1, counts);
  if (s->rank == 0) {
    particle *serial = serial_run(s->o, s->o->theta), *exact = serial_run(s->o, 0);
    distance[0] = difference(all, serial, N);
    /* the approximation, and what the order of additions may do */
    distance[1] = difference(serial, exact, N) + 1e-10;
    free(serial);
    free(exact);
  }
  free(counts);
  free(all);
}

/* ----------------------------------------------------------------------------------- the report */

/* all processes together */
typedef struct {
  report sum, most; /* most: of each, but for ids and energy */
  double imbalance;
  int cut;
} record;

/* Of steps 0 to `steps`; step 0 brings the particles to their first cells. */
static void print_steps(const options *o, const record *records, int P) {
  printf("   step  imbalance  cut   moved  k of migration: most, average  k of trees: most, average      bodies\n");
  int every = o->steps / MOST_LINES + 1;
  for (int i = 0; i <= o->steps; i++) {
    const record *r = &records[i];
    if (i % every != 0 && i != o->steps) continue;
    printf("%7d %9.1f%% %4s %7lld %20lld %9.2f %16lld %9.2f %11lld\n", i, 100 * r->imbalance, r->cut ? "yes" : "",
           (long long)r->sum.moved, (long long)r->most.targets, (double)r->sum.targets / P,
           (long long)r->most.essential, (double)r->sum.essential / P, (long long)r->sum.bodies);
  }
}

static const char *color_of(int p, int P) {
  static char text[40];
  snprintf(text, sizeof text, "hsl(%d,65%%,%d%%)", 360 * p / P, p % 2 ? 35 : 50);
  return text;
}

/* Cells, as one sees them from +z. Those of discs cover the plane; those of spheres may lie behind
   one another. */
static void draw_cells(FILE *file, const part *parts, int index, box b, double scale, const double middle[2]) {
  const part *p = &parts[index];
  if (p->processes == 1) {
    svg_rect(file, middle[0] + scale * b.lo[0], middle[1] - scale * b.hi[1], scale * (b.hi[0] - b.lo[0]),
             scale * (b.hi[1] - b.lo[1]), "none", SVG_INK);
    return;
  }
  box low = b, high = b;
  double cut = fmin(fmax(p->cut, b.lo[p->dimension]), b.hi[p->dimension]);
  low.hi[p->dimension] = high.lo[p->dimension] = cut;
  draw_cells(file, parts, p->below, low, scale, middle);
  draw_cells(file, parts, p->below + 1, high, scale, middle);
}

/* Numbers of neighbors over the steps: the most of a process, and the average. */
static void draw_neighbors(FILE *file, const options *o, const record *records, int P) {
  const double left = 70, right = 870, top = 900, bottom = 1050;
  double most = 1;
  char text[80];
  for (int i = 1; i <= o->steps; i++) most = fmax(most, (double)records[i].most.targets);
  svg_text(file, left, top - 22, 14, "start", SVG_INK,
           "processes that a process sends particles to in a step: the most (bars) and the average (line)");
  double width = (right - left) / fmax(1, o->steps), height = (bottom - top) / most, before = bottom;
  for (int i = 1; i <= o->steps; i++) {
    double x = left + (i - 1) * width, y = bottom - height * (double)records[i].most.targets;
    svg_rect(file, x, y, fmax(width * 0.9, 0.3), bottom - y, SVG_LINE, "none");
  }
  for (int i = 1; i <= o->steps; i++) {
    double x = left + (i - 0.5) * width, y = bottom - height * (double)records[i].sum.targets / P;
    if (i > 1) svg_line(file, x - width, before, x, y, 1.5, SVG_NODE_EDGE);
    before = y;
  }
  svg_line(file, left, bottom, right, bottom, 1, SVG_INK);
  snprintf(text, sizeof text, "%.0f", most);
  svg_text(file, left - 10, top, 13, "end", SVG_INK, text);
  svg_text(file, left - 10, bottom, 13, "end", SVG_INK, "0");
  snprintf(text, sizeof text, "step %d", o->steps);
  svg_text(file, right, bottom + 18, 13, "end", SVG_INK, text);
}

/* Collective. True if the picture was written. */
static int draw(const simulation *s, const record *records) {
  const double view = 5, middle[2] = {450, 450}, scale = 400 / view;
  int *counts = ints(s->P), ok = 1, i = 0;
  particle *all = gather(s, s->o->particles / MOST_DOTS + 1, counts);
  if (s->rank == 0) {
    FILE *file = fopen(s->o->picture, "w");
    char title[100];
    snprintf(title, sizeof title, "%d particles after %d steps on %d processes", s->o->particles, s->o->steps, s->P);
    if (file != NULL) {
      svg_begin(file, 900, 1090, title);
      for (int p = 0; p < s->P; p++) {
        for (int end = i + counts[p]; i < end; i++) {
          const double *x = all[i].x;
          if (fabs(x[0]) < view && fabs(x[1]) < view)
            svg_circle(file, middle[0] + scale * x[0], middle[1] - scale * x[1], 1.6, color_of(p, s->P), "none");
        }
      }
      draw_cells(file, s->parts, 0, (box){{-view, -view, -view}, {view, view, view}}, scale, middle);
      draw_neighbors(file, s->o, records, s->P);
      svg_end(file);
      ok = !ferror(file);
      ok = fclose(file) == 0 && ok;
    } else {
      ok = 0;
    }
    if (ok) printf("picture in %s\n", s->o->picture);
    else fprintf(stderr, "nbody: cannot write %s\n", s->o->picture);
  }
  MPI_Bcast(&ok, 1, MPI_INT, 0, s->comm);
  free(counts);
  free(all);
  return ok;
}

/* -------------------------------------------------------------------------------------- the run */

static void fold(int64_t *sum, int64_t *most, int64_t value) {
  *sum += value;
  if (value > *most) *most = value;
}

/* One step's reports of all processes, on all processes, which so come to the same decisions. */
static record note(simulation *s, int cut) {
  report *now = &s->now, *all = allocate((size_t)s->P, sizeof *all);
  now->particles = s->n;
  now->work = 0;
  now->ids = 0;
  now->energy = 0;
  for (int i = 0; i < s->n; i++) {
    const particle *p = &s->particles[i];
    double square = p->v[0] * p->v[0] + p->v[1] * p->v[1] + p->v[2] * p->v[2];
    now->work += s->pulls[i].work;
    now->ids += mix((uint64_t)p->id);
    /* each pair is in the potentials of both */
    now->energy += p->mass * (square + s->pulls[i].potential) / 2;
  }
  MPI_Allgather(now, sizeof *now, MPI_BYTE, all, sizeof *now, MPI_BYTE, s->comm);
  record r = {.cut = cut};
  for (int p = 0; p < s->P; p++) {
    const report *a = &all[p];
    fold(&r.sum.targets, &r.most.targets, a->targets);
    fold(&r.sum.moved, &r.most.moved, a->moved);
    fold(&r.sum.essential, &r.most.essential, a->essential);
    fold(&r.sum.bodies, &r.most.bodies, a->bodies);
    fold(&r.sum.particles, &r.most.particles, a->particles);
    fold(&r.sum.work, &r.most.work, a->work);
    r.sum.ids += a->ids;
    r.sum.energy += a->energy;
  }
  r.imbalance = (double)r.most.work * s->P / (double)r.sum.work - 1;
  free(all);
  return r;
}

/* The same exit code on all processes. */
static int run(const options *o, MPI_Comm world) {
  simulation s = begin_simulation(o, world);
  record *records = allocate((size_t)o->steps + 1, sizeof *records);
  double begin = MPI_Wtime(), largest_drift = 0, force_error = 0;
  int there = 1, cuts = 0;
  uint64_t ids = 0;
  for (int i = 0; i < o->particles; i++) ids += mix((uint64_t)i);
  for (int step = 0; step <= o->steps; step++) {
    if (step > 0) {
      kick(s.particles, s.pulls, s.n, o->dt / 2);
      drift(s.particles, s.n, o->dt);
    }
    int cut = step == 0 || records[step - 1].imbalance > o->imbalance;
    if (cut) cut_space(&s);
    cuts += cut && step > 0;
    migrate(&s);
    compute_forces(&s);
    if (step > 0) kick(s.particles, s.pulls, s.n, o->dt / 2);
    records[step] = note(&s, cut);
    there = there && records[step].sum.particles == o->particles && records[step].sum.ids == ids;
    if (step == 0) force_error = check_forces(&s);
    double before = records[0].sum.energy, moved = fabs((records[step].sum.energy - before) / before);
    if (!(moved <= largest_drift)) largest_drift = moved; /* so that NaN is not overlooked */
    if (step == 0) s.seconds[0] = s.seconds[1] = 0; /* first calls prepare more than later ones */
  }
  double seconds = MPI_Wtime() - begin, distance[2] = {0, 0};
  MPI_Allreduce(MPI_IN_PLACE, s.seconds, 2, MPI_DOUBLE, MPI_MAX, world);

  int unique = all_unique(&s), serially = (double)o->particles * o->particles * o->steps <= MOST_PAIRS;
  /* What a tree of centers leaves out grows with the square of theta, and what steps leave out with
     that of their length. The factors are about twice what was measured with spheres and discs of
     200 to 3000 particles. */
  double force_limit = 0.12 * o->theta * o->theta + 1e-12;
  double energy_limit = 0.08 * o->theta * o->theta + 3 * o->dt * o->dt + 1e-12;
  if (serially && there && unique) compare(&s, distance);
  int ok = there && unique && force_error <= force_limit && largest_drift <= energy_limit && distance[0] <= distance[1];
  MPI_Bcast(&ok, 1, MPI_INT, 0, world);
  char places[40] = "";
  if (serially) snprintf(places, sizeof places, "places within %.1e, ", distance[0]);
  if (s.rank == 0) {
    printf("%d particles in two %s, %d steps of %g, theta %g; %d processes, space was cut %d times anew\n",
           o->particles, o->flat ? "discs" : "spheres", o->steps, o->dt, o->theta, s.P, cuts);
    print_steps(o, records, s.P);
    print_choice(s.migration, "migration: ");
    print_choice(s.essential, "trees: ");
    printf("in a step on average: migration %.1f us, exchange of trees %.1f us, all %.1f us\n",
           1e6 * s.seconds[0] / fmax(1, o->steps), 1e6 * s.seconds[1] / fmax(1, o->steps),
           1e6 * seconds / (o->steps + 1));
    printf("particles: %s in each step, numbers %s at the end\n", there ? "all there" : "LOST OR DOUBLED",
           unique ? "unique" : "NOT UNIQUE");
    printf("forces:    differ by %.1e from direct summation (allowed: %.1e)\n", force_error, force_limit);
    printf("energy:    %.6f, moved by %.1e at most (allowed: %.1e)\n", records[0].sum.energy,
           largest_drift, energy_limit);
    if (serially) printf("places:    differ by %.1e from a serial run (allowed: %.1e)\n", distance[0], distance[1]);
    else printf("places:    too many particles and steps for a serial run\n");
  }
  if (o->picture != NULL) ok = draw(&s, records) && ok;
  if (s.rank == 0)
    printf("nbody: results %s %s: %sforces within %.1e, energy within %.1e; %d steps, %.2f s\n",
           ok ? "agree with" : "DIFFER from", serially ? "the serial run" : "what can be checked", places, force_error,
           largest_drift, o->steps, seconds);
  free(records);
  end_simulation(&s);
  return ok ? 0 : 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, code;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  options o;
  const char *wrong = parse(argv, &o);
  if (wrong != NULL || o.help) {
    code = show_usage(rank, "nbody", wrong, usage);
  } else {
    code = run(&o, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return code;
}
