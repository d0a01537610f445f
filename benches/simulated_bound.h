/* The least time in which the network of SimGrid carries the messages of a neighborhood, whatever
   their order: that of the link with most to carry for its bandwidth. Included by simulate.c. */
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <xbt/dynar.h>

/* load of the links, by their addresses: all processes share the program's variables */
enum { LINKS = 1 << 18 };
static struct {
  sg_link_t link;
  double bytes;
} loads[LINKS];

static void carry(sg_link_t link, double bytes) {
  size_t at = mix((uint64_t)(uintptr_t)link) % LINKS;
  while (loads[at].link && loads[at].link != link) at = (at + 1) % LINKS;
  loads[at].link = link, loads[at].bytes += bytes;
}

static sg_host_t host_of(const job *j, int process) {
  char name[32];
  snprintf(name, sizeof name, "node-%d", process / j->per_node);
  return sg_host_by_name(name);
}

/* microseconds */
static double least_time(job *j) {
  double longest = 0;
  if (j->me == 0) memset(loads, 0, sizeof loads);
  together(j);
  for (int i = 0; i < j->edges_out; i++) {
    xbt_dynar_t route = xbt_dynar_new(sizeof(sg_link_t), NULL);
    sg_host_get_route(host_of(j, j->me), host_of(j, j->to[i]), route);
    for (unsigned long k = 0; k < xbt_dynar_length(route); k++) carry(xbt_dynar_get_as(route, k, sg_link_t), j->bytes_out[i]);
    xbt_dynar_free(&route);
  }
  together(j);
  for (int k = 0; k < LINKS; k++) {
    double time = loads[k].link ? loads[k].bytes / sg_link_get_bandwidth(loads[k].link) : 0;
    if (time > longest) longest = time;
  }
  together(j);
  return 1e6 * longest;
}
