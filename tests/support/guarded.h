// Memory between two unreadable pages: one element too far on either side is a fault, not luck.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>

namespace tenon::test {

enum class Flush { kEnd, kBegin };  // which end of the buffer touches the unreadable page

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
    mprotect(base_, page, PROT_NONE);
    mprotect(base_ + page + body, page, PROT_NONE);
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
