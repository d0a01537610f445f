/* The front: a libmpix_neighbor.so for programs of every MPI. Its functions are jumps through a
   table. The first call finds the MPI that the process has loaded, loads the library that is built
   for its family and lies beside this file, libmpix_neighbor_<flavor>.so, and fills the table.

   Handles of MPI are of another size in each family: no function here looks at its arguments. */
#define _GNU_SOURCE
#define LIBRARY "libmpix_neighbor"
#include "flavor.h"
#include "functions.h"
#include <link.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* files of the process that may be MPIs */
struct names {
  const char *name[64];
  int count;
};

static int collect(struct dl_phdr_info *object, size_t size, void *argument) {
  (void)size;
  struct names *names = argument;
  const char *name = strrchr(object->dlpi_name, '/');
  if (name && strncmp(name, "/libmpi", 7) == 0 && strncmp(name, "/libmpix", 8) != 0 && names->count < 64) names->name[names->count++] = object->dlpi_name;
  return 0;
}

/* The families of MPIs in files that the process has loaded; with RTLD_GLOBAL as `flags`, their
   names are made visible to the whole process. */
static unsigned look(const struct names *names, int flags) {
  unsigned families = 0;
  for (int i = 0; i < names->count; i++) {
    void *library = dlopen(names->name[i], RTLD_NOW | RTLD_NOLOAD | flags);
    if (!library) continue;
    families |= mpixn_families_in(library);
    dlclose(library);
  }
  return families;
}

/* The one family whose MPI the process has loaded. Its names may be hidden from the rest of the
   process, as those of a module of Python are. The library that is loaded next must see them, and
   so must who says what an unknown MPI calls itself: they are made visible, unless there are
   several families. Another thread may look meanwhile, and must not see one of several. */
static int find(void) {
  unsigned families = mpixn_families_in(RTLD_DEFAULT);
  if (families) return only_family(families);
  struct names names = {.count = 0};
  /* not in the callback: the loader's lists are locked there */
  dl_iterate_phdr(collect, &names);
  families = look(&names, RTLD_LOCAL);
  if ((families & (families - 1)) == 0) look(&names, RTLD_GLOBAL);
  return only_family(families);
}

/* the table, and the name of each entry */
#define SLOT(name) HIDDEN extern void *mpixn_slot_##name;
FUNCTIONS(SLOT)
#define ENTRY(name) {#name, &mpixn_slot_##name},
static const struct {
  const char *name;
  void **slot;
} entries[] = {FUNCTIONS(ENTRY)};
enum { ENTRIES = sizeof entries / sizeof *entries };

/* Fills the table. Several threads may: they write the same. */
HIDDEN void mpixn_bind(void) {
  char have[256];
  int family = find();
  struct file file = file_for(family);
  void *library = dlopen(file.path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    /* good until the loader is called again */
    char why[2048];
    snprintf(why, sizeof why, "%s", dlerror());
    end("this process runs under %s (%s), and the library for that cannot be loaded: %s; there are libraries for: %s",
        mpixn_families[family].name, version(), why, libraries(have, sizeof have));
  }
  void *found[ENTRIES];
  for (int i = 0; i < ENTRIES; i++)
    if (!(found[i] = dlsym(library, entries[i].name))) end("%s has no %s: it is of another release than libmpix_neighbor.so", file.path, entries[i].name);
  for (int i = 0; i < ENTRIES; i++) __atomic_store_n(entries[i].slot, found[i], __ATOMIC_RELEASE);
}

/* What an entry of the table leads to at first: keeps the registers of arguments, fills the table,
   and jumps again. */
#if defined(__x86_64__)
__asm__(".text\n"
        "mpixn_first:\n"
        "  .cfi_startproc\n"
        "  endbr64\n"
        "  pushq %rbp\n  .cfi_def_cfa_offset 16\n  .cfi_offset %rbp, -16\n"
        "  movq %rsp, %rbp\n  .cfi_def_cfa_register %rbp\n"
        "  andq $-16, %rsp\n  subq $208, %rsp\n"
        "  movq %rdi, (%rsp)\n  movq %rsi, 8(%rsp)\n  movq %rdx, 16(%rsp)\n  movq %rcx, 24(%rsp)\n"
        "  movq %r8, 32(%rsp)\n  movq %r9, 40(%rsp)\n  movq %rax, 48(%rsp)\n  movq %r11, 56(%rsp)\n"
        "  movaps %xmm0, 64(%rsp)\n  movaps %xmm1, 80(%rsp)\n  movaps %xmm2, 96(%rsp)\n  movaps %xmm3, 112(%rsp)\n"
        "  movaps %xmm4, 128(%rsp)\n  movaps %xmm5, 144(%rsp)\n  movaps %xmm6, 160(%rsp)\n  movaps %xmm7, 176(%rsp)\n"
        "  call mpixn_bind\n"
        "  movq (%rsp), %rdi\n  movq 8(%rsp), %rsi\n  movq 16(%rsp), %rdx\n  movq 24(%rsp), %rcx\n"
        "  movq 32(%rsp), %r8\n  movq 40(%rsp), %r9\n  movq 48(%rsp), %rax\n  movq 56(%rsp), %r11\n"
        "  movaps 64(%rsp), %xmm0\n  movaps 80(%rsp), %xmm1\n  movaps 96(%rsp), %xmm2\n  movaps 112(%rsp), %xmm3\n"
        "  movaps 128(%rsp), %xmm4\n  movaps 144(%rsp), %xmm5\n  movaps 160(%rsp), %xmm6\n  movaps 176(%rsp), %xmm7\n"
        "  movq %rbp, %rsp\n  popq %rbp\n  .cfi_def_cfa %rsp, 8\n"
        "  jmp *(%r11)\n"
        "  .cfi_endproc\n");
/* %r11, which no argument is passed in, is the entry's address */
#define JUMP(name) \
  __asm__(".text\n  .p2align 4\n  .globl " #name "\n  .type " #name ", @function\n" #name ":\n" \
          "  endbr64\n  jmp *mpixn_slot_" #name "(%rip)\n" \
          "mpixn_first_" #name ":\n  endbr64\n" \
          "  leaq mpixn_slot_" #name "(%rip), %r11\n  jmp mpixn_first\n" \
          "  .size " #name ", .-" #name "\n" \
          ".data\n  .p2align 3\n  .globl mpixn_slot_" #name "\n  .hidden mpixn_slot_" #name "\n" \
          "mpixn_slot_" #name ":\n  .quad mpixn_first_" #name "\n.text\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        "mpixn_first:\n"
        "  .cfi_startproc\n"
        "  stp x29, x30, [sp, #-224]!\n"
        "  .cfi_def_cfa_offset 224\n  .cfi_offset 29, -224\n  .cfi_offset 30, -216\n"
        "  mov x29, sp\n"
        "  stp x0, x1, [sp, #16]\n  stp x2, x3, [sp, #32]\n  stp x4, x5, [sp, #48]\n  stp x6, x7, [sp, #64]\n"
        "  stp x8, x17, [sp, #80]\n"
        "  stp q0, q1, [sp, #96]\n  stp q2, q3, [sp, #128]\n  stp q4, q5, [sp, #160]\n  stp q6, q7, [sp, #192]\n"
        "  bl mpixn_bind\n"
        "  ldp x0, x1, [sp, #16]\n  ldp x2, x3, [sp, #32]\n  ldp x4, x5, [sp, #48]\n  ldp x6, x7, [sp, #64]\n"
        "  ldp x8, x17, [sp, #80]\n"
        "  ldp q0, q1, [sp, #96]\n  ldp q2, q3, [sp, #128]\n  ldp q4, q5, [sp, #160]\n  ldp q6, q7, [sp, #192]\n"
        "  ldp x29, x30, [sp], #224\n"
        "  .cfi_def_cfa_offset 0\n  .cfi_restore 29\n  .cfi_restore 30\n"
        "  ldr x16, [x17]\n  br x16\n"
        "  .cfi_endproc\n");
/* x16 and x17, which no argument is passed in, are free for this */
#define JUMP(name) \
  __asm__(".text\n  .p2align 4\n  .globl " #name "\n  .type " #name ", %function\n" #name ":\n" \
          "  hint #34\n  adrp x17, mpixn_slot_" #name "\n  add x17, x17, :lo12:mpixn_slot_" #name "\n" \
          "  ldr x16, [x17]\n  br x16\n" \
          "  .size " #name ", .-" #name "\n" \
          ".data\n  .p2align 3\n  .globl mpixn_slot_" #name "\n  .hidden mpixn_slot_" #name "\n" \
          "mpixn_slot_" #name ":\n  .quad mpixn_first\n.text\n");
#else
#error "the front is written for x86-64 and aarch64"
#endif
FUNCTIONS(JUMP)
