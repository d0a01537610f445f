/* Matrices in rows, and files in Matrix Market format; shared by spmv and pagerank. */

#ifndef EXAMPLES_MATRIX_H
#define EXAMPLES_MATRIX_H

#include "forms.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>

/* Rows behind one another: row i has the nonzeros first[i] to first[i + 1] - 1. */
typedef struct {
  int rows, columns;
  int *first, *column;
  double *value;
} matrix;

static inline void free_matrix(matrix *a) {
  free(a->first);
  free(a->column);
  free(a->value);
}

typedef struct {
  int row, column;
  double value;
} entry;

typedef struct {
  FILE *file;
  const char *name;
  long line;
  char text[1026]; /* the format allows 1024 characters, then come the end of line and the null */
} reader;

/* Says what is wrong and where, and is 0 for `return`. */
static inline int complain(const reader *r, const char *what) {
  fprintf(stderr, "%s:%ld: %s\n", r->name, r->line, what);
  return 0;
}

/* The next line. 1: there is one; 0: the file ends, which is an error for the caller to name; -1:
   an error that was named. */
static inline int next_line(reader *r) {
  r->line++;
  if (fgets(r->text, sizeof r->text, r->file) == NULL) {
    if (!ferror(r->file)) return 0;
    complain(r, strerror(errno));
    return -1;
  }
  if (strchr(r->text, '\n') == NULL && !feof(r->file)) {
    complain(r, "line longer than 1024 characters, or with a null character");
    return -1;
  }
  return 1;
}

/* The next line that is neither blank nor, before the sizes, a comment. */
static inline int next_data_line(reader *r, int comments) {
  int more;
  while ((more = next_line(r)) == 1)
    if (r->text[strspn(r->text, " \t\r\n")] != '\0' && !(comments && r->text[0] == '%')) break;
  return more;
}

/* A whole number from `least` to `most` at *text, which moves behind it. */
static inline int read_int(char **text, int least, int most, int *number) {
  char *end;
  errno = 0;
  long value = strtol(*text, &end, 10);
  if (end == *text || errno != 0 || value < least || value > most) return 0;
  *text = end;
  *number = (int)value;
  return 1;
}

static inline int at_end(const char *text) { return text[strspn(text, " \t\r\n")] == '\0'; }

enum field { REAL, INTEGER, PATTERN };
enum symmetry { GENERAL, SYMMETRIC, SKEW };

/* The first line: what is in the file. Words count in any case. */
static inline int read_header(reader *r, enum field *field, enum symmetry *symmetry) {
  char word[5][64] = {{0}}, rest[2];
  int more = next_line(r);
  if (more != 1) return more == 0 ? complain(r, "the file is empty") : 0;
  int words = sscanf(r->text, "%63s %63s %63s %63s %63s %1s", word[0], word[1], word[2], word[3], word[4], rest);
  for (int i = 0; i < 5; i++)
    for (char *c = word[i]; *c != '\0'; c++) *c = (char)tolower((unsigned char)*c);
  if (words < 1 || strcmp(word[0], "%%matrixmarket") != 0)
    return complain(r, "not a Matrix Market file: the first line does not begin with %%MatrixMarket");
  if (words != 5 || strcmp(word[1], "matrix") != 0)
    return complain(r, "the first line is not %%MatrixMarket matrix <format> <field> <symmetry>");

  if (strcmp(word[2], "array") == 0) return complain(r, "array (dense) is not supported, only coordinate");
  if (strcmp(word[2], "coordinate") != 0) return complain(r, "unknown format; supported is coordinate");
  if (strcmp(word[3], "real") == 0 || strcmp(word[3], "double") == 0) *field = REAL;
  else if (strcmp(word[3], "integer") == 0) *field = INTEGER;
  else if (strcmp(word[3], "pattern") == 0) *field = PATTERN;
  else if (strcmp(word[3], "complex") == 0) return complain(r, "complex is not supported, only real, integer, pattern");
  else return complain(r, "unknown field; supported are real, integer, pattern");
  if (strcmp(word[4], "general") == 0) *symmetry = GENERAL;
  else if (strcmp(word[4], "symmetric") == 0) *symmetry = SYMMETRIC;
  else if (strcmp(word[4], "skew-symmetric") == 0) *symmetry = SKEW;
  else return complain(r, "unknown symmetry; supported are general, symmetric, skew-symmetric");
  if (*field == PATTERN && *symmetry == SKEW) return complain(r, "a pattern cannot be skew-symmetric");
  return 1;
}

/* The line with the sizes: rows, columns, entries. */
static inline int read_sizes(reader *r, enum symmetry symmetry, matrix *a, int *stored) {
  int more = next_data_line(r, 1);
  if (more != 1) return more == 0 ? complain(r, "the file ends before the line with the sizes") : 0;
  char *text = r->text;
  if (!read_int(&text, 0, INT_MAX - 1, &a->rows) || !read_int(&text, 0, INT_MAX - 1, &a->columns) ||
      !read_int(&text, 0, INT_MAX - 1, stored) || !at_end(text))
    return complain(r, "expected the numbers of rows, columns and entries, each less than 2^31 - 1");
  if (symmetry != GENERAL && a->rows != a->columns) return complain(r, "a symmetric matrix must be square");
  return 1;
}

/* One entry, with indices from 0. */
static inline int read_entry(reader *r, enum field field, enum symmetry symmetry, const matrix *a, entry *e) {
  int more = next_data_line(r, 0);
  if (more != 1) return more == 0 ? complain(r, "the file ends before the last entry") : 0;
  char *text = r->text, *end;
  if (!read_int(&text, 1, a->rows, &e->row)) return complain(r, "expected a row number, from 1 to the number of rows");
  if (!read_int(&text, 1, a->columns, &e->column))
    return complain(r, "expected a column number, from 1 to the number of columns");
  e->row--;
  e->column--;
  e->value = 1.0;
  if (field != PATTERN) {
    e->value = strtod(text, &end);
    if (end == text || !isfinite(e->value)) return complain(r, "expected a finite value");
    if (field == INTEGER && e->value != floor(e->value)) return complain(r, "expected an integer value");
    text = end;
  }
  if (!at_end(text)) return complain(r, "more on the line than an entry");
  if (symmetry != GENERAL && e->row < e->column)
    return complain(r, "an entry above the diagonal; symmetric matrices store those on and below it");
  if (symmetry == SKEW && e->row == e->column)
    return complain(r, "an entry on the diagonal, which is 0 in a skew-symmetric matrix");
  return 1;
}

/* Sorts entries into rows; within a row they keep their order. Entries at the same place stay
   apart: their products add up. */
static inline void sort_into_rows(const entry *entries, int n, matrix *a) {
  a->first = allocate((size_t)a->rows + 1, sizeof *a->first);
  a->column = allocate((size_t)n, sizeof *a->column);
  a->value = allocate((size_t)n, sizeof *a->value);
  for (int k = 0; k < n; k++) a->first[entries[k].row + 1]++;
  for (int i = 0; i < a->rows; i++) a->first[i + 1] += a->first[i];
  int *next = allocate((size_t)a->rows, sizeof *next);
  memcpy(next, a->first, (size_t)a->rows * sizeof *next);
  for (int k = 0; k < n; k++) {
    int at = next[entries[k].row]++;
    a->column[at] = entries[k].column;
    a->value[at] = entries[k].value;
  }
  free(next);
}

/* Reads a file in Matrix Market format. Entries of symmetric matrices are stored once in the file,
   and twice here. What is wrong with a file is said together with its name and line; 0 is returned
   then. */
static inline int read_matrix(const char *name, matrix *a) {
  reader r = {.file = fopen(name, "r"), .name = name};
  if (r.file == NULL) {
    fprintf(stderr, "%s: %s\n", name, strerror(errno));
    return 0;
  }
  enum field field = REAL;
  enum symmetry symmetry = GENERAL;
  entry *entries = NULL;
  int stored, n = 0, room = 0;
  int ok = read_header(&r, &field, &symmetry) && read_sizes(&r, symmetry, a, &stored);
  for (int k = 0; ok && k < stored; k++) {
    /* grows with the entries that are there, not with the number that the file promises */
    if (n > room - 2) {
      if (room > INT_MAX / 2) {
        ok = complain(&r, "more than 2^30 nonzeros");
        break;
      }
      room = room > 0 ? 2 * room : 1024;
      entries = resize(entries, (size_t)room, sizeof *entries);
    }
    entry e;
    ok = read_entry(&r, field, symmetry, a, &e);
    entries[n++] = e;
    if (ok && symmetry != GENERAL && e.row != e.column)
      entries[n++] = (entry){e.column, e.row, symmetry == SKEW ? -e.value : e.value};
  }
  if (ok) {
    int more = next_data_line(&r, 0);
    if (more == 1) complain(&r, "more entries than the line with the sizes says");
    ok = more == 0;
  }
  fclose(r.file);
  if (ok) sort_into_rows(entries, n, a);
  free(entries);
  return ok;
}

#endif
