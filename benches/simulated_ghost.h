/* The case `ghost` of simulate.c: ghost cells by puts (OneSided, chapter 7, Figures 6 and 7), and
 * what a fence costs (Figure 1). 4 neighbors on a periodic grid of rows of 8. */

/* a put of `words` doubles after another to each neighbor, which has a place for each direction */
static void put_all(job *j, int words) {
  for (int d = 0; d < j->edges_out; d++)
    for (int at = 0; at < j->bytes_out[d]; at += words * 8)
      MPI_Put(j->send + j->at_out[d] + at, words, MPI_DOUBLE, j->to[d], (MPI_Aint)(j->at_in[d ^ 1] + at) / 8, words, MPI_DOUBLE, j->window);
}

static void put_by_fence(job *j, int words) {
  MPI_Win_fence(MPI_MODE_NOPRECEDE, j->window);
  put_all(j, words);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, j->window);
}

static void put_by_epochs(job *j, int words) {
  MPI_Win_post(j->around, 0, j->window);
  MPI_Win_start(j->around, 0, j->window);
  put_all(j, words);
  MPI_Win_complete(j->window);
  MPI_Win_wait(j->window);
}

static void one_put_by_fence(job *j) { put_by_fence(j, j->bytes_out[0] / 8); }
static void one_put_by_epochs(job *j) { put_by_epochs(j, j->bytes_out[0] / 8); }
static void many_puts_by_fence(job *j) { put_by_fence(j, 1); }
static void many_puts_by_epochs(job *j) { put_by_epochs(j, 1); }
static void fence_alone(job *j) { MPI_Win_fence(0, j->window); }
static void barrier_alone(job *j) { MPI_Barrier(j->comm); }

static double time_alone(job *j, void (*run)(job *)) {
  double sum = 0;
  for (int call = -1; call < CALLS; call++) {
    double begin = together(j);
    run(j);
    double us = slowest(j, begin);
    if (call >= 0) sum += us;
  }
  return sum / CALLS;
}

static void ghost(job *j) {
  static const int doubles[] = {1, 100, 1000, 100000};
  static const struct {
    const char *name;
    void (*run)(job *);
    int most; /* doubles */
  } alternatives[] = {{"one put, fence", one_put_by_fence, 100000},
                      {"one put, epochs", one_put_by_epochs, 100000},
                      {"many puts, fence", many_puts_by_fence, 100},
                      {"many puts, epochs", many_puts_by_epochs, 100}};
  double model;
  char chosen[32];
  MPI_Group all;
  square(j);
  MPI_Comm_group(j->comm, &all);
  MPI_Group_incl(all, j->edges_out, j->to, &j->around);
  for (size_t s = 0; s < sizeof doubles / sizeof *doubles; s++) {
    for (int d = 0; d < j->edges_out; d++) j->bytes_out[d] = j->bytes_in[d] = 8 * doubles[s];
    give_buffers(j);
    MPI_Win_create(j->recv, (MPI_Aint)j->in * 8 * doubles[s], 8, MPI_INFO_NULL, j->comm, &j->window);
    if (j->me == 0) printf("ghost cells, %d doubles to each of 4 neighbors\n", doubles[s]);
    double hand = time_exchange(j, "by hand", by_hand);
    print(j, "by hand", hand, 0, 0);
    set(j, "direct", 0, &model, chosen);
    print(j, "direct", time_exchange(j, "direct", exchange), hand, 0);
    for (size_t a = 0; a < sizeof alternatives / sizeof *alternatives; a++)
      if (doubles[s] <= alternatives[a].most && (doubles[s] > 1 || a < 2))
        print(j, alternatives[a].name, time_exchange(j, alternatives[a].name, alternatives[a].run), hand, 0);
    if (s == 0) {
      double barrier = time_alone(j, barrier_alone);
      if (j->me == 0) printf("nothing but\n");
      print(j, "a barrier", barrier, 0, 0), print(j, "a fence", time_alone(j, fence_alone), 0, 0);
    }
    MPI_Win_free(&j->window);
  }
  MPI_Group_free(&all), MPI_Group_free(&j->around);
}
