// libtenon.so, the preload shim: libc only, and nothing happens in a process without torch. It
// loads the plugin that fits the process's torch at a moment when libtorch's own constructors are
// done:
//   * a program linked to libtorch: just before main(), through __libc_start_main;
//   * Python: after torch/_C has called libtorch_python's initModule(), which goes through the PLT.
// A program that opens libtorch later may call tenon_load(). No constructor, no other hook: every
// child process inherits LD_PRELOAD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct search {
  const char* prefix;
  char path[PATH_MAX];
};

static int match(struct dl_phdr_info* info, size_t size, void* data) {
  struct search* s = data;
  const char* slash = info->dlpi_name != NULL ? strrchr(info->dlpi_name, '/') : NULL;
  (void)size;
  if (slash == NULL || strncmp(slash + 1, s->prefix, strlen(s->prefix)) != 0) return 0;
  snprintf(s->path, sizeof s->path, "%s", info->dlpi_name);
  return 1;
}

// The path a library whose file name begins with `prefix` is mapped from; false: none is.
static int mapped(const char* prefix, struct search* s) {
  s->prefix = prefix;
  s->path[0] = '\0';
  return dl_iterate_phdr(match, s);
}

// "2.13" from the head of `text`; false: there is no version.
static int minor_version(const char* text, char* version, size_t size) {
  int major = 0, minor = 0;
  if (sscanf(text, "%d.%d", &major, &minor) != 2) return 0;
  snprintf(version, size, "%d.%d", major, minor);
  return 1;
}

// The version in the first quoted string or the first line of a file: torch/version.py of the
// wheels ("__version__ = '2.13.0+cpu'"), build-version of the C++ archives ("2.13.0+cpu").
static int version_in_file(const char* path, char* version, size_t size) {
  char line[256];
  int found = 0;
  FILE* file = fopen(path, "re");
  if (file == NULL) return 0;
  while (!found && fgets(line, sizeof line, file) != NULL) {
    const char* quote = strpbrk(line, "'\"");
    found = minor_version(quote != NULL ? quote + 1 : line, version, size);
  }
  fclose(file);
  return found;
}

// Debian carries the version in the file name (libtorch_cpu.so.2.6); the wheels beside lib/.
static int torch_version(const char* libtorch, char* version, size_t size) {
  static const char* const files[] = {"/../version.py", "/../build-version"};
  char path[PATH_MAX + 32], resolved[PATH_MAX];
  const char* real = realpath(libtorch, resolved) != NULL ? resolved : libtorch;
  const char* suffix = strstr(real, ".so.");
  if (suffix != NULL && minor_version(suffix + 4, version, size)) return 1;
  const int directory = (int)(strrchr(real, '/') - real);
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    snprintf(path, sizeof path, "%.*s%s", directory, real, files[i]);
    if (version_in_file(path, version, size)) return 1;
  }
  return 0;
}

// TENON_ATEN_LIB, or the file for this torch beside this library.
static int plugin_path(const char* libtorch, char* path, size_t size) {
  char version[32];
  Dl_info self;
  const char* named = getenv("TENON_ATEN_LIB");
  if (named != NULL && *named != '\0') return snprintf(path, size, "%s", named) > 0;
  if (!torch_version(libtorch, version, sizeof version)) {
    fprintf(stderr, "tenon: not loaded: cannot tell the torch version of %s\n", libtorch);
    return 0;
  }
  if (!dladdr((void*)plugin_path, &self) || strrchr(self.dli_fname, '/') == NULL) return 0;
  const int directory = (int)(strrchr(self.dli_fname, '/') - self.dli_fname);
  snprintf(path, size, "%.*s/libtenon_aten.%s.so", directory, self.dli_fname, version);
  return 1;
}

// Loads the plugin once libtorch is there; a failure is one line on stderr and stock PyTorch.
EXPORT void tenon_load(void) {
  static atomic_flag done = ATOMIC_FLAG_INIT;
  struct search torch;
  char path[PATH_MAX + 64];
  if (!mapped("libtorch_cpu.so", &torch) || atomic_flag_test_and_set(&done)) return;
  if (!plugin_path(torch.path, path, sizeof path)) return;
  if (dlopen(path, RTLD_NOW | RTLD_LOCAL) == NULL)
    fprintf(stderr, "tenon: not loaded: %s\n", dlerror());
}

typedef int main_fn(int, char**, char**);
typedef int start_fn(main_fn*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);
static main_fn* real_main;

static int main_with_load(int argc, char** argv, char** envp) {
  tenon_load();
  return real_main(argc, argv, envp);
}

EXPORT int __libc_start_main(main_fn* main, int argc, char** argv, void (*init)(void),
                             void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
  real_main = main;
  start_fn* real = (start_fn*)dlsym(RTLD_NEXT, "__libc_start_main");
  return real(main_with_load, argc, argv, init, fini, rtld_fini, stack_end);
}

// libtorch_python's, which this one stands in front of.
EXPORT void* initModule(void) {
  struct search python;
  void* handle =
      mapped("libtorch_python.so", &python) ? dlopen(python.path, RTLD_NOW | RTLD_NOLOAD) : NULL;
  void* (*real)(void) = handle != NULL ? (void* (*)(void))dlsym(handle, "initModule") : NULL;
  if (real == NULL || real == initModule) return NULL;
  void* module = real();
  tenon_load();
  return module;
}
