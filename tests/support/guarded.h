// Memory between two unreadable pages: one element too far on either side is a fault, not luck.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace tenon::test {

enum class Flush { kEnd, kBegin };  // which end of the buffer touches the unreadable page

// TENON_TEST_GUARD=0 leaves the pages readable: QEMU's masked loads read every lane of the vector.
inline bool guarding() {
  const char* word = std::getenv("TENON_TEST_GUARD");
  return word == nullptr || std::strcmp(word, "0") != 0;
}

template <class T>
class Guarded {
 public:
  explicit Guarded(size_t n, Flush flush = Flush::kEnd) : n_(n) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), bytes = n * sizeof(T);
    const size_t body = (bytes + page - 1) / page * page;
    size_ = body + 2 * page;
    void* map = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<char*>(map);
    const int closed = guarding() ? PROT_NONE : PROT_READ;
    mprotect(base_, page, closed);
    mprotect(base_ + page + body, page, closed);
    char* start = flush == Flush::kEnd ? base_ + page + body - bytes : base_ + page;
    data_ = reinterpret_cast<T*>(start);
  }
  ~Guarded() { munmap(base_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return n_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + n_; }

 private:
  char* base_;
  T* data_;
  size_t n_, size_;
};

}  // namespace tenon::test
