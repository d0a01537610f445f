/* The cases `sparse`, `nbody` and `bfs` of simulate.c: sparse exchanges, as such, between
 * neighbors, and in a breadth-first search. */

/* Particles that move (DSDE, Figure 6(b): below 5 neighbors): to the next processes of a grid of
   rows of 8, but to the one of them that they leave behind. */
static int draw_near(const job *j, int round, int process, int targets[MOST]) {
  const int steps[] = {1, j->n - 1, 8, j->n - 8}, behind = (int)(mix((uint64_t)round << 32 | (uint64_t)process) % 4);
  int degree = 0;
  for (int i = 0; i < 4; i++)
    if (i != behind) targets[degree++] = (process + steps[i]) % j->n;
  return degree;
}

/* a process at random: any, or one of the next `nodes` nodes */
static int draw_one(const job *j, int process, uint64_t seed) {
  if (!j->nodes) return (int)(seed % (uint64_t)j->n);
  return ((process / j->per_node + 1) * j->per_node + (int)(seed % (uint64_t)(j->nodes * j->per_node))) % j->n;
}

/* the messages of a process in a call; returns their number */
static int draw(const job *j, int round, int process, int targets[MOST]) {
  if (j->near) return draw_near(j, round, process, targets);
  uint64_t seed = mix((uint64_t)round << 32 | (uint64_t)process);
  for (int i = 0; i < j->messages; i++) {
    int repeated = 1;
    while (repeated) {
      seed = mix(seed), targets[i] = draw_one(j, process, seed), repeated = targets[i] == process;
      for (int k = 0; k < i; k++) repeated |= targets[k] == targets[i];
    }
  }
  return j->messages;
}

static uint64_t word(int round, int source, int target) { return mix(mix((uint64_t)round << 32 | (uint64_t)source) + (uint64_t)target); }

static void arrived(job *j, int source, const uint64_t *message) {
  if (j->came >= j->n) fail(j, "sparse", "too many messages");
  if (message[j->bytes / 8 - 1] != message[0]) fail(j, "sparse", "a message of several words");
  if (j->came == j->room) {
    j->room = j->room ? 2 * j->room : MOST;
    j->sources = realloc(j->sources, sizeof(int) * (size_t)j->room), j->words = realloc(j->words, sizeof(uint64_t) * (size_t)j->room);
    if (!j->sources || !j->words) fail(j, "sparse", "no memory");
  }
  j->sources[j->came] = source, j->words[j->came++] = message[0];
}

static void write_message(job *j, int i, uint64_t w) {
  for (int k = 0; k < j->bytes / 8; k++) j->out[i * (j->bytes / 8) + k] = w;
}

/* room for what a call has; what grows with the number of processes, only by hand */
static void make_room(job *j) {
  if (is_asked("by_hand")) j->counts = need(sizeof(int) * (size_t)j->n), j->counts_in = need(sizeof(int) * (size_t)j->n);
  j->requests = need(sizeof(MPI_Request) * MOST);
  j->out = need((size_t)j->bytes * MOST), j->in_word = need((size_t)j->bytes);
}

static void ours(job *j) {
  int counts[MOST], at[MOST];
  for (int i = 0; i < j->degree; i++) counts[i] = j->bytes, at[i] = j->bytes * i;
  MPIX_Sparse_result result;
  MPIX_Sparse_exchange(j->degree, j->targets, j->out, counts, at, MPI_BYTE, MPI_BYTE, j->info, j->comm, &result);
  int came, source;
  MPI_Count bytes;
  MPIX_Sparse_get_count(result, &came, &bytes);
  for (int m = 0; m < came; m++) {
    void *where;
    MPIX_Sparse_get_message(result, m, &source, &bytes, &where);
    if (bytes != j->bytes) fail(j, "sparse", "a message of another length");
    memcpy(j->in_word, where, (size_t)bytes), arrived(j, source, j->in_word);
  }
  MPIX_Sparse_free(&result);
}

static void send_all(job *j) {
  for (int i = 0; i < j->degree; i++) MPI_Isend(&j->out[i * (j->bytes / 8)], j->bytes, MPI_BYTE, j->targets[i], TAG + j->round % 2, j->comm, &j->requests[i]);
}

static void receive(job *j, int source) {
  MPI_Status status;
  MPI_Recv(j->in_word, j->bytes, MPI_BYTE, source, TAG + j->round % 2, j->comm, &status);
  arrived(j, status.MPI_SOURCE, j->in_word);
}

/* DSDE, Algorithm 1 */
static void hand_pcx(job *j) {
  int coming;
  memset(j->counts, 0, sizeof(int) * (size_t)j->n);
  for (int i = 0; i < j->degree; i++) j->counts[j->targets[i]] = 1;
  send_all(j);
  MPI_Reduce_scatter_block(j->counts, &coming, 1, MPI_INT, MPI_SUM, j->comm);
  while (j->came < coming) receive(j, MPI_ANY_SOURCE);
  MPI_Waitall(j->degree, j->requests, MPI_STATUSES_IGNORE);
}

static void hand_pex(job *j) {
  memset(j->counts, 0, sizeof(int) * (size_t)j->n);
  for (int i = 0; i < j->degree; i++) j->counts[j->targets[i]] = 1;
  send_all(j);
  MPI_Alltoall(j->counts, 1, MPI_INT, j->counts_in, 1, MPI_INT, j->comm);
  for (int s = 0; s < j->n; s++)
    if (j->counts_in[s]) receive(j, s);
  MPI_Waitall(j->degree, j->requests, MPI_STATUSES_IGNORE);
}

/* each message of the others has come once, and nothing else */
static void check_sparse(job *j, const char *name) {
  int expected = 0, others[MOST];
  for (int s = 0; s < j->n; s++) {
    int degree = draw(j, j->round, s, others);
    for (int i = 0; i < degree; i++) {
      if (others[i] != j->me) continue;
      expected++;
      int found = 0;
      for (int m = 0; m < j->came; m++) found += j->sources[m] == s && j->words[m] == word(j->round, s, j->me);
      if (found != 1) fail(j, name, "a message is missing or wrong");
    }
  }
  if (expected != j->came) fail(j, name, "too many messages");
}

/* draws targets and messages of the next call */
static void next_sparse(job *j) {
  j->round++, j->came = 0;
  j->degree = draw(j, j->round, j->me, j->targets);
  for (int i = 0; i < j->degree; i++) write_message(j, i, word(j->round, j->me, j->targets[i]));
}

/* the protocol of the last call on the communicator */
static void chosen_protocol(job *j) {
  char text[4096];
  int length;
  MPIX_Sparse_describe(j->comm, sizeof text, text, &length);
  const char *by = strstr(text, "protocol ");
  if (by) sscanf(by, "protocol %31[a-z_]", j->chosen);
}

static double time_sparse(job *j, const char *name, const char *protocol, void (*run)(job *)) {
  const char *const pairs[][2] = {{"mpix_sparse", protocol}, {"mpix_loggp", j->parameters}};
  double sum = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &j->comm);
  j->info = info_of(pairs, 2);
  /* auto compares protocols first. Each call begins together: SMPI's MPI_Cancel, by which NBX ends,
     takes a message of the next call away from a process that has not ended this one. */
  for (int call = 0; call < (strcmp(name, "auto") ? 0 : TRIAL); call++) next_sparse(j), together(j), run(j);
  for (int call = -2; call < CALLS; call++) {
    next_sparse(j);
    double begin = together(j);
    run(j);
    double us = slowest(j, begin);
    if (call >= 0) sum += us;
    if (j->n <= 1024 || call == 0) check_sparse(j, name);
  }
  if (protocol) chosen_protocol(j);
  MPI_Info_free(&j->info);
  MPI_Comm_free(&j->comm);
  return sum / CALLS;
}

static void sparse(job *j) {
  static const char *const protocols[] = {"nbx", "nbx_node", "pcx", "pcx_library", "pex", "crystal", "rsx", "auto"};
  make_room(j);
  if (j->me == 0) printf("sparse exchange, %d messages of %d bytes\n", j->near ? 3 : j->messages, j->bytes);
  double best = 0;
  if (is_asked("by_hand")) {
    double pcx = time_sparse(j, "PCX by hand", NULL, hand_pcx);
    print(j, "PCX by hand", pcx, 0, 0);
    double pex = time_sparse(j, "PEX by hand", NULL, hand_pex);
    print(j, "PEX by hand", pex, 0, 0);
    best = pcx < pex ? pcx : pex;
  }
  for (size_t p = 0; p < sizeof protocols / sizeof *protocols; p++) {
    /* run only if named */
    int more = !strcmp(protocols[p], "rsx") || !strcmp(protocols[p], "auto");
    if (!is_asked(protocols[p]) || (more && !getenv("SIMULATE_ONLY"))) continue;
    double us = time_sparse(j, protocols[p], protocols[p], ours);
    char shown[64];
    snprintf(shown, sizeof shown, strcmp(protocols[p], "auto") ? "%s" : "auto: %s", strcmp(protocols[p], "auto") ? protocols[p] : j->chosen);
    print(j, shown, us, best, 0);
  }
}

/* the same between neighbors */
static void near(job *j) {
  if (j->n <= 16) fail(j, "nbody", "more than 16 processes");
  j->near = 1, sparse(j);
}

/* ---- breadth-first search */

/* DSDE, Algorithm 3: each process has edges to random others, the same in all levels. One
   that was reached in the last level sends along its edges; all learn whether any was. Returns the
   level in which this process was reached. */
static int search(job *j, void (*run)(job *), int *levels) {
  int mine = j->me == 0 ? 0 : -1, fresh = j->me == 0, any = 1;
  for (*levels = 0; any; ++*levels) {
    j->round++, j->came = 0;
    j->degree = fresh ? draw(j, 1, j->me, j->targets) : 0;
    for (int i = 0; i < j->degree; i++) write_message(j, i, (uint64_t)*levels);
    run(j);
    fresh = mine < 0 && j->came > 0;
    if (fresh) mine = *levels + 1;
    MPI_Allreduce(&fresh, &any, 1, MPI_INT, MPI_LOR, j->comm);
  }
  return mine;
}

/* the level of each process, by a search in this one */
static void levels_of_all(const job *j, int *level) {
  int targets[MOST], more = 1;
  for (int p = 0; p < j->n; p++) level[p] = p ? -1 : 0;
  for (int now = 0; more; now++) {
    more = 0;
    for (int p = 0; p < j->n; p++) {
      int degree = level[p] == now ? draw(j, 1, p, targets) : 0;
      for (int i = 0; i < degree; i++)
        if (level[targets[i]] < 0) level[targets[i]] = now + 1, more = 1;
    }
  }
}

static void searches(job *j) {
  static const struct {
    const char *name, *protocol;
    void (*run)(job *);
  } all[] = {{"PCX by hand", NULL, hand_pcx}, {"PEX by hand", NULL, hand_pex}, {"nbx", "nbx", ours}, {"pcx", "pcx", ours}, {"pex", "pex", ours}, {"crystal", "crystal", ours}, {"auto", "auto", ours}};
  int *level = need(sizeof(int) * (size_t)j->n), levels = 0;
  double hand = 0;
  int told = 0;
  make_room(j);
  levels_of_all(j, level);
  if (j->me == 0) printf("breadth-first search, %d edges a process\n", j->messages);
  for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
    if (!is_asked(all[a].protocol ? all[a].protocol : "by_hand")) continue;
    const char *const pairs[][2] = {{"mpix_sparse", all[a].protocol}, {"mpix_loggp", j->parameters}};
    double us = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &j->comm);
    j->info = info_of(pairs, 2);
    /* the first search makes what a protocol needs */
    for (int call = 0; call < 2; call++) {
      double begin = together(j);
      int mine = search(j, all[a].run, &levels);
      us = slowest(j, begin);
      if (mine != level[j->me]) fail(j, all[a].name, "another level");
    }
    MPI_Info_free(&j->info);
    MPI_Comm_free(&j->comm);
    if (!told && j->me == 0) printf("  %d levels; a level:\n", levels);
    told = 1;
    print(j, all[a].name, us / levels, hand, 0);
    if (a < 2 && (hand == 0 || us / levels < hand)) hand = us / levels;
  }
  free(level);
}
