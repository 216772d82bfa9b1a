// Which kernel a machine runs: a pure function of the table and the machine.
#pragma once
#include <atomic>
#include <cstddef>
#include <string_view>

#include "dispatch/env.h"
#include "isa/kernel.h"

namespace tenon {

// The rows of one family, best first within an operation.
template <class Fn>
struct Table {
  const Kernel<Fn>* rows;
  size_t count;

  constexpr const Kernel<Fn>* begin() const { return rows; }
  constexpr const Kernel<Fn>* end() const { return rows + count; }
};

// The first row for `op` that `cpu` can run and `allowed` (a predicate on the row's name) admits;
// null for an operation the table does not have. Every operation ends in a reference row that needs
// nothing and is always allowed. Pure: tests call it for machines they do not own.
template <class Fn, class Allowed>
constexpr const Kernel<Fn>* pick(Table<Fn> table, std::string_view op, const Cpu& cpu,
                                 Allowed allowed) {
  for (const Kernel<Fn>& k : table)
    if (op == k.op && k.fits(cpu) && (k.need == kNone || allowed(k))) return &k;
  return nullptr;
}

template <class Fn>
constexpr const Kernel<Fn>* pick(Table<Fn> table, std::string_view op, const Cpu& cpu) {
  return pick(table, op, cpu, [](const Kernel<Fn>&) { return true; });
}

// The choice for one operation on this host: made at the first call, kept for the process's life.
template <class Fn>
class Slot {
 public:
  constexpr Slot(Table<Fn> table, const char* op) : table_(table), op_(op) {}

  const Kernel<Fn>& get() {
    const Kernel<Fn>* k = chosen_.load(std::memory_order_acquire);
    return k != nullptr ? *k : choose();
  }

 private:
  const Kernel<Fn>& choose() {
    const Kernel<Fn>* k = pick(table_, op_, host_cpu(), [](const Kernel<Fn>& row) {
      return kernel_enabled(row.op, row.name);
    });
    chosen_.store(k, std::memory_order_release);  // a racing thread stores the same row
    return *k;
  }

  Table<Fn> table_;
  const char* op_;
  std::atomic<const Kernel<Fn>*> chosen_{nullptr};
};

}  // namespace tenon
