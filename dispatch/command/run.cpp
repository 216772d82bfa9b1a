// `tenon run`: sets the environment and becomes the program.
#include "dispatch/command/run.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace tenon {

std::string own_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
}

int run(const std::vector<std::string>& command) {
  const std::string shim = own_folder() + "/libtenon.so";
  if (!std::filesystem::exists(shim)) {
    fmt::print(stderr, "tenon: {} is missing: build it with ./ci/run build\n", shim);
    return 127;
  }
  if (shim.find_first_of(" :") != std::string::npos) {
    fmt::print(stderr, "tenon: {}: LD_PRELOAD cannot hold a path with a blank or a colon\n", shim);
    return 127;
  }
  const char* others = std::getenv("LD_PRELOAD");
  const bool alone = others == nullptr || *others == '\0';
  setenv("LD_PRELOAD", alone ? shim.c_str() : (shim + ":" + others).c_str(), 1);
  // c10's allocator then asks for huge pages, which streaming weights gain from.
  setenv("THP_MEM_ALLOC_ENABLE", "1", 0);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  fmt::print(stderr, "tenon: {}: {}\n", command[0], std::strerror(error));
  return error == ENOENT ? 127 : 126;
}

}  // namespace tenon
