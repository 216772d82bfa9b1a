// QEMU plugin (API version 1, QEMU 6 to 8) that counts the guest's RISC-V instructions exactly, and
// prints a line of JSON to stderr for what lies between two markers, and one at exit for all, which
// begins with "total". The guest marks with
// `slti x0, x0, 1` and `slti x0, x0, 2`, hints that hardware ignores (the unprivileged ISA manual,
// "HINT Instructions"). One guest thread: the counters are not atomic.
//
// No Debian package has qemu-plugin.h; these are its few declarations.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn*);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn*);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t,
                                           void (*)(qemu_plugin_id_t, struct qemu_plugin_tb*));
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn*, int, void*, uint64_t);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn*, void (*)(unsigned, void*),
                                            int, void*);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void*), void*);
#define PUBLIC __attribute__((visibility("default")))
PUBLIC int qemu_plugin_version = 1;

enum Class { kAll, kVector, kFma, kVset, kMemory, kClasses };
static const char* const kNames[kClasses] = {"all", "vector", "fma", "vset", "vector_memory"};
static uint64_t count[kClasses], begin[kClasses];

// The fields of the vector formats (the V specification, "Vector Instruction Formats").
static uint32_t funct3(uint32_t w) { return w >> 12 & 7; }
static uint32_t funct6(uint32_t w) { return w >> 26; }
static bool is_arithmetic(uint32_t w) { return (w & 0x7f) == 0x57; }
static bool is_vset(uint32_t w) { return is_arithmetic(w) && funct3(w) == 7; }
// Vector loads and stores have the opcodes of scalar floats, with widths those do not use.
static bool is_memory(uint32_t w) {
  const uint32_t opcode = w & 0x7f;
  return (opcode == 0x07 || opcode == 0x27) && (funct3(w) == 0 || funct3(w) >= 5);
}
// vfmadd to vfnmsac, and the widening ones.
static bool is_fma(uint32_t w) {
  const bool of_floats = is_arithmetic(w) && (funct3(w) == 1 || funct3(w) == 5);
  return of_floats && ((funct6(w) >= 0x28 && funct6(w) <= 0x2f) || funct6(w) >= 0x3b);
}
static uint32_t marker(uint32_t w) { return (w & 0xfffff) == 0x02013 ? w >> 20 : 0; }

static void at_begin(unsigned cpu, void* unused) {
  (void)cpu, (void)unused;
  memcpy(begin, count, sizeof begin);
}

static void print(const char* title, const uint64_t* since) {
  char line[256];
  snprintf(line, sizeof line, "{%s", title);
  for (int i = 0; i < kClasses; i++) {
    const size_t n = strlen(line);
    snprintf(line + n, sizeof line - n, "%s\"%s\": %llu", i > 0 ? ", " : "", kNames[i],
             (unsigned long long)(count[i] - since[i]));
  }
  fprintf(stderr, "%s}\n", line);
}

static void at_end(unsigned cpu, void* unused) {
  (void)cpu, (void)unused;
  print("", begin);
}

static void at_exit(qemu_plugin_id_t id, void* unused) {
  (void)id, (void)unused;
  static const uint64_t zero[kClasses];
  print("\"total\": true, ", zero);
}

static void add_to(struct qemu_plugin_insn* insn, enum Class class) {
  qemu_plugin_register_vcpu_insn_exec_inline(insn, 0, &count[class], 1);
}

static void instrument(struct qemu_plugin_insn* insn) {
  uint32_t w = 0;
  const size_t size = qemu_plugin_insn_size(insn);
  memcpy(&w, qemu_plugin_insn_data(insn), size < 4 ? size : 4);
  if (size < 4) w = 0;  // a compressed one: none of the classes below
  add_to(insn, kAll);
  if (is_vset(w)) add_to(insn, kVset);
  if (is_memory(w)) add_to(insn, kMemory);
  if (is_memory(w) || (is_arithmetic(w) && !is_vset(w))) add_to(insn, kVector);
  if (is_fma(w)) add_to(insn, kFma);
  if (marker(w) == 1) qemu_plugin_register_vcpu_insn_exec_cb(insn, at_begin, 0, NULL);
  if (marker(w) == 2) qemu_plugin_register_vcpu_insn_exec_cb(insn, at_end, 0, NULL);
}

static void at_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
    instrument(qemu_plugin_tb_get_insn(tb, i));
}

PUBLIC int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                               char** argv) {
  (void)info, (void)argc, (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, at_translation);
  qemu_plugin_register_atexit_cb(id, at_exit, NULL);
  return 0;
}
