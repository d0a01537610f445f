/* A few functions that write plain SVG, shared by the examples that draw a picture. The pictures
 * hold their colors and sizes themselves: no style sheet, no script, no font file. Coordinates are
 * in pixels, y grows downward, and what is written later lies on top. */

#ifndef EXAMPLES_SVG_H
#define EXAMPLES_SVG_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define SVG_INK "#222222"
#define SVG_NODE "#f2b263"
#define SVG_NODE_EDGE "#8a5a1a"
#define SVG_LINE "#9bbcd8"

/* text of an element or attribute: the characters that mean something in XML are replaced */
static inline void svg_escaped(FILE *file, const char *text) {
  for (; *text; text++) {
    switch (*text) {
    case '&': fputs("&amp;", file); break;
    case '<': fputs("&lt;", file); break;
    case '>': fputs("&gt;", file); break;
    case '"': fputs("&quot;", file); break;
    default: fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
    }
  }
}

/* anchor: "start", "middle" or "end", which part of the text is at x; y is the middle of its
   height */
static inline void svg_text(FILE *file, double x, double y, double size, const char *anchor, const char *color,
                            const char *text) {
  fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" ", x, y + 0.35 * size, size);
  fprintf(file, "text-anchor=\"%s\" fill=\"%s\">", anchor, color);
  svg_escaped(file, text);
  fputs("</text>\n", file);
}

static inline void svg_line(FILE *file, double x1, double y1, double x2, double y2, double width, const char *color) {
  fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" ", x1, y1, x2, y2);
  fprintf(file, "stroke-width=\"%.2f\" stroke=\"%s\"/>\n", width, color);
}

/* stroke: color of the outline, or "none"; so in svg_rect */
static inline void svg_circle(FILE *file, double x, double y, double radius, const char *fill, const char *stroke) {
  fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" stroke=\"%s\"/>\n", x, y, radius, fill, stroke);
}

static inline void svg_rect(FILE *file, double x, double y, double width, double height, const char *fill,
                            const char *stroke) {
  fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" ", x, y, width, height);
  fprintf(file, "fill=\"%s\" stroke=\"%s\"/>\n", fill, stroke);
}

/* starts a picture: white ground, and the title in the middle of the first 50 pixels */
static inline void svg_begin(FILE *file, double width, double height, const char *title) {
  fprintf(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" ", width, height);
  fprintf(file, "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\">\n<title>", width, height);
  svg_escaped(file, title);
  fputs("</title>\n", file);
  svg_rect(file, 0, 0, width, height, "white", "none");
  svg_text(file, width / 2, 28, 20, "middle", SVG_INK, title);
}

static inline void svg_end(FILE *file) { fputs("</svg>\n", file); }

typedef struct {
  double x, y, half_width, half_height;
} SvgBox;

static inline bool svg_overlap(const SvgBox *a, const SvgBox *b) {
  return fabs(a->x - b->x) < a->half_width + b->half_width && fabs(a->y - b->y) < a->half_height + b->half_height;
}

/* what travels between nodes i and j in both directions together */
static inline double svg_volume(const int *volumes, int n, int i, int j) {
  return (double)volumes[(size_t)i * (size_t)n + (size_t)j] + volumes[(size_t)j * (size_t)n + (size_t)i];
}

/* A graph of n nodes on a circle around (cx, cy). The area of node i goes by loads[i], which is
 * also written outside of it; the width of the line between i and j by volumes[i * n + j] +
 * volumes[j * n + i], which is also written on it unless there are too many lines for that. Returns
 * false, and draws nothing, if there is no memory. */
static inline bool svg_graph(FILE *file, double cx, double cy, double radius, int n, const int *loads,
                             const int *volumes) {
  enum { MOST_LABELS = 200, LABEL = 12 };
  const double pi = 3.14159265358979323846, widest = 14;
  /* so small that a line to the node after next passes by, or at least so large that a number
     fits */
  const double largest = fmin(44, fmax(0.8 * radius * (1 - cos(2 * pi / n)), n > 2 ? radius / n : 44));
  SvgBox *nodes = malloc((size_t)n * sizeof *nodes), labels[MOST_LABELS];
  if (!nodes) return false;
  double heaviest = 1, most = 1;
  int lines = 0, labelled = 0;
  char text[40];
  for (int i = 0; i < n; i++) most = fmax(most, loads[i]);
  for (int i = 0; i < n; i++) {
    double angle = 2 * pi * i / n - pi / 2, r = largest * sqrt(loads[i] / most);
    nodes[i] = (SvgBox){cx + radius * cos(angle), cy + radius * sin(angle), r, r};
    for (int j = 0; j < i; j++) {
      double volume = svg_volume(volumes, n, i, j);
      lines += volume > 0;
      heaviest = fmax(heaviest, volume);
    }
  }
  /* first all lines and then all labels, so that no line hides a label */
  for (int pass = 0; pass < (lines <= MOST_LABELS ? 2 : 1); pass++) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < i; j++) {
        double volume = svg_volume(volumes, n, i, j);
        const SvgBox *a = &nodes[j], *b = &nodes[i];
        if (volume <= 0) continue;
        if (pass == 0) {
          svg_line(file, a->x, a->y, b->x, b->y, fmax(0.8, widest * volume / heaviest), SVG_LINE);
          continue;
        }
        SvgBox label = {0, 0, 0.29 * LABEL * snprintf(text, sizeof text, "%.0f", volume) + 2, 0.5 * LABEL + 1};
        bool taken = true;
        /* in the middle of the line, or else step by step toward its ends until it lies on nothing
           else */
        for (int step = 0; step < 36 && taken; step++) {
          double part = 0.5 + (step % 2 ? 0.02 : -0.02) * ((step + 1) / 2);
          label.x = a->x + part * (b->x - a->x);
          label.y = a->y + part * (b->y - a->y);
          taken = false;
          for (int k = 0; k < labelled; k++) taken = taken || svg_overlap(&label, &labels[k]);
          for (int k = 0; k < n; k++) taken = taken || svg_overlap(&label, &nodes[k]);
        }
        labels[labelled++] = label;
        svg_rect(file, label.x - label.half_width, label.y - label.half_height, 2 * label.half_width,
                 2 * label.half_height, "white", SVG_LINE);
        svg_text(file, label.x, label.y, LABEL, "middle", SVG_INK, text);
      }
    }
  }
  for (int i = 0; i < n; i++) {
    double angle = 2 * pi * i / n - pi / 2, outside = radius + nodes[i].half_width + 12;
    const char *anchor = fabs(cos(angle)) < 0.1 ? "middle" : cos(angle) > 0 ? "start" : "end";
    svg_circle(file, nodes[i].x, nodes[i].y, nodes[i].half_width, SVG_NODE, SVG_NODE_EDGE);
    snprintf(text, sizeof text, "%d", i);
    svg_text(file, nodes[i].x, nodes[i].y, fmax(7, fmin(18, largest)), "middle", SVG_INK, text);
    snprintf(text, sizeof text, "%d", loads[i]);
    svg_text(file, cx + outside * cos(angle), cy + outside * sin(angle), 13, anchor, SVG_NODE_EDGE, text);
  }
  free(nodes);
  return true;
}

#endif
