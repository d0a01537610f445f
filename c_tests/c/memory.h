/* The memory of this process, by /proc. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdio.h>
#include <unistd.h>

/* number of its mappings, those of others than this library too; 0 if it is not known */
static inline int all_mappings(void) {
  int count = 0, c;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && (c = fgetc(maps)) != EOF) count += c == '\n';
  if (maps) fclose(maps);
  return count;
}

/* KiB in memory; 0 if it is not known */
static inline long resident(void) {
  long pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (statm && fscanf(statm, "%*d %ld", &pages) != 1) pages = 0;
  if (statm) fclose(statm);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

#endif
