/* Options of the example programs: whole numbers, and what is said when an option is wrong. */

#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <stdio.h>
#include <stdlib.h>

/* A whole number from `least` to `most`. Returns 0 for any other text, and for NULL. */
static inline int parse_int(const char *text, int least, int most, int *number) {
  char *end;
  long value = text ? strtol(text, &end, 10) : 0;
  if (text == NULL || end == text || *end != '\0' || value < least || value > most) return 0;
  *number = (int)value;
  return 1;
}

/* Process 0 names the option that is `wrong`, if any, and says how the program is used. Returns the
   program's exit code. */
static inline int show_usage(int rank, const char *program, const char *wrong, const char *usage) {
  if (rank == 0 && wrong != NULL) {
    fprintf(stderr, "%s: %s is no option, or its value is wrong\n%s", program, wrong, usage);
  }
  if (rank == 0 && wrong == NULL) fputs(usage, stdout);
  return wrong != NULL ? 2 : 0;
}

#endif
