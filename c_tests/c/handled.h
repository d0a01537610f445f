/* Calls on `comm`, or another communicator, that fail: each must call the error handler once, with
   the code that it returns. */
#ifndef HANDLED_H
#define HANDLED_H

#include "test.h"

static int handled, handled_code;
static void handler(MPI_Comm *on, int *code, ...) {
  (void)on;
  handled++;
  handled_code = *code;
}

/* the call failed, and the handler was called once with the code */
static void expect(int line, MPI_Comm on, int code, int class, const char *text) {
  test_fails(line, on, code, class, text);
  CHECK(handled == 1 && handled_code == code, "line %d: handler called %d times", line, handled);
  handled = 0;
}
#define HANDLED_ON(on, call, class, text) expect(__LINE__, on, call, class, text)
#define HANDLED(call, class, text) HANDLED_ON(comm, call, class, text)

#endif
