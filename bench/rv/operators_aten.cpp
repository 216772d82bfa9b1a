// operators [FILTER [FIRST]]: every operator of the suite, from number FIRST on, once between the
// markers of count.c, on one thread. Before each it prints a line of JSON to stderr: op, dtype,
// shape, work (elements, or multiply-adds), unit. bench/rv.py runs it with and without Tenon
// preloaded.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#if defined(__riscv)
#define MARK(n) asm volatile("slti x0, x0, %0" : : "i"(n) : "memory")
#else
#define MARK(n) asm volatile("" : : "i"(n) : "memory")
#endif

namespace {

using at::Tensor;

struct Case {
  std::string op;
  at::ScalarType type;
  std::string shape;
  int64_t work;
  bool of_products;
  std::function<Tensor()> run;
};

class Suite {
 public:
  void elements(const char* op, const Tensor& x, std::function<Tensor()> run) {
    add({op, x.scalar_type(), shape_of(x), x.numel(), false, std::move(run)});
  }
  void products(const char* op, const Tensor& a, int64_t columns, std::function<Tensor()> run) {
    const std::string shape = shape_of(a) + "x" + std::to_string(columns);
    add({op, a.scalar_type(), shape, a.numel() * columns, true, std::move(run)});
  }
  const std::vector<Case>& cases() const { return cases_; }

 private:
  static std::string shape_of(const Tensor& x) {
    std::string text;
    for (int64_t size : x.sizes()) text += (text.empty() ? "" : "x") + std::to_string(size);
    return text;
  }
  void add(Case c) { cases_.push_back(std::move(c)); }
  std::vector<Case> cases_;
};

Tensor normal(at::IntArrayRef sizes, at::ScalarType type) { return at::randn(sizes).to(type); }

void unary(Suite& s, at::ScalarType type) {
  const Tensor x = normal({65536}, type), positive = (x * x + 0.1).to(type);
  s.elements("relu", x, [=] { return at::relu(x); });
  s.elements("exp", x, [=] { return at::exp(x); });
  s.elements("tanh", x, [=] { return at::tanh(x); });
  s.elements("sigmoid", x, [=] { return at::sigmoid(x); });
  s.elements("silu", x, [=] { return at::silu(x); });
  s.elements("gelu", x, [=] { return at::gelu(x); });
  s.elements("gelu tanh", x, [=] { return at::gelu(x, "tanh"); });
  s.elements("rsqrt", x, [=] { return at::rsqrt(positive); });
  s.elements("pow 2", x, [=] { return at::pow(x, 2); });
}

void unary_backward(Suite& s, at::ScalarType type) {
  const Tensor x = normal({65536}, type), dy = normal({65536}, type), y = at::sigmoid(x);
  s.elements("threshold_backward", x, [=] { return at::threshold_backward(dy, x, 0); });
  s.elements("sigmoid_backward", x, [=] { return at::sigmoid_backward(dy, y); });
  s.elements("tanh_backward", x, [=] { return at::tanh_backward(dy, y); });
  s.elements("silu_backward", x, [=] { return at::silu_backward(dy, x); });
  s.elements("gelu_backward", x, [=] { return at::gelu_backward(dy, x); });
}

void binary(Suite& s, at::ScalarType type) {
  const Tensor a = normal({64, 1024}, type), b = normal({64, 1024}, type), row = b[0];
  s.elements("add", a, [=] { return at::add(a, b); });
  s.elements("sub", a, [=] { return at::sub(a, b); });
  s.elements("mul", a, [=] { return at::mul(a, b); });
  s.elements("div", a, [=] { return at::div(a, b); });
  s.elements("mul number", a, [=] { return at::mul(a, 0.3); });
  s.elements("add row", a, [=] { return at::add(a, row); });
}

void casts(Suite& s, at::ScalarType type) {
  const Tensor x = normal({65536}, type);
  for (at::ScalarType to : {at::kFloat, at::kBFloat16, at::kHalf, at::kLong}) {
    if (to == type) continue;
    s.elements((std::string("cast ") + c10::toString(to)).c_str(), x, [=] { return x.to(to); });
  }
}

void rows(Suite& s, at::ScalarType type) {
  const Tensor x = normal({256, 256}, type), dy = normal({256, 256}, type);
  const Tensor w = normal({256}, type), b = normal({256}, type), y = at::softmax(x, -1);
  s.elements("softmax", x, [=] { return at::softmax(x, -1); });
  s.elements("softmax columns", x, [=] { return at::softmax(x, 0); });
  s.elements("log_softmax", x, [=] { return at::log_softmax(x, -1); });
  s.elements("softmax_backward", x,
             [=] { return at::_softmax_backward_data(dy, y, -1, x.scalar_type()); });
  s.elements("layer_norm", x, [=] { return at::layer_norm(x, {256}, w, b); });
  s.elements("rms_norm", x, [=] { return at::rms_norm(x, {256}, w, 1e-5); });
  const auto [out, mean, rstd] = at::native_layer_norm(x, {256}, w, b, 1e-5);
  s.elements("layer_norm_backward", x, [=, mean = mean, rstd = rstd] {
    return std::get<0>(
        at::native_layer_norm_backward(dy, x, {256}, mean, rstd, w, b, {true, true, true}));
  });
}

void reductions(Suite& s, at::ScalarType type) {
  const Tensor x = normal({256, 256}, type);
  s.elements("sum", x, [=] { return at::sum(x); });
  s.elements("sum rows", x, [=] { return at::sum(x, 1); });
  s.elements("sum columns", x, [=] { return at::sum(x, 0); });
  s.elements("mean rows", x, [=] { return at::mean(x, 1); });
  s.elements("amax rows", x, [=] { return at::amax(x, 1); });
  s.elements("argmax rows", x, [=] { return at::argmax(x, 1); });
}

void moves(Suite& s, at::ScalarType type) {
  const Tensor x = normal({256, 256}, type), mask = at::rand({256, 256}) < 0.5;
  const Tensor index = at::randint(256, {256});
  s.elements("masked_fill", x, [=] { return at::masked_fill(x, mask, -1e4); });
  s.elements("cat", x, [=] { return at::cat({x, x}, 1); });
  s.elements("index_select", x, [=] { return at::index_select(x, 0, index); });
  s.elements("embedding", x, [=] { return at::embedding(x, index); });
  s.elements("transposing copy", x, [=] { return x.t().contiguous(); });
}

void products(Suite& s, at::ScalarType type) {
  const Tensor a = normal({256, 256}, type), b = normal({256, 256}, type);
  const Tensor one = normal({1, 1024}, type), few = normal({8, 512}, type);
  const Tensor w = normal({1024, 1024}, type), v = normal({512, 512}, type);
  const Tensor p = normal({16, 64, 64}, type), q = normal({16, 64, 64}, type);
  s.products("mm", a, 256, [=] { return at::mm(a, b); });
  s.products("linear, one row", one, 1024, [=] { return at::linear(one, w); });
  s.products("linear, 8 rows", few, 512, [=] { return at::linear(few, v); });
  s.products("bmm", p, 64, [=] { return at::bmm(p, q); });
}

void attention(Suite& s, at::ScalarType type) {
  const Tensor q = normal({1, 4, 128, 64}, type), k = normal({1, 4, 128, 64}, type);
  const Tensor v = normal({1, 4, 128, 64}, type), last = normal({1, 4, 1, 64}, type);
  const auto attend = [](const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
    return at::scaled_dot_product_attention(q, k, v, {}, 0.0, causal);
  };
  s.products("attention, prefill", q, 128 * 2, [=] { return attend(q, k, v, true); });
  s.products("attention, decode", last, 128 * 2, [=] { return attend(last, k, v, false); });
}

void integers(Suite& s) {
  const Tensor mask = at::rand({256, 256}) < 0.5, a = at::randint(-100, 100, {128, 128}, at::kChar);
  s.elements("sum", mask, [=] { return at::sum(mask); });
  s.products("_int_mm", a, 128, [=] { return at::_int_mm(a, a.t()); });
}

const char* name_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return "f32";
    case at::kBFloat16:
      return "bf16";
    case at::kHalf:
      return "f16";
    default:
      return type == at::kChar ? "i8" : "bool";
  }
}

// Tenon, where it is preloaded, names a kernel at its first call since then.
void forget_kernels() {
  const char* plugin = std::getenv("TENON_ATEN_LIB");
  void* loaded = plugin != nullptr ? dlopen(plugin, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (loaded != nullptr) reinterpret_cast<void (*)()>(dlsym(loaded, "tenon_reset"))();
}

void count(const Case& c) {
  forget_kernels();
  std::fprintf(stderr, "{\"op\": \"%s\", \"dtype\": \"%s\", \"shape\": \"%s\", \"work\": %lld, ",
               c.op.c_str(), name_of(c.type), c.shape.c_str(), static_cast<long long>(c.work));
  std::fprintf(stderr, "\"unit\": \"%s\"}\n", c.of_products ? "MAC" : "element");
  c.run();  // lazy initialisation is not what is counted
  MARK(1);
  c.run();
  MARK(2);
}

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);
  at::manual_seed(20261130);
  Suite suite;
  for (at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf})
    for (auto* add :
         {unary, unary_backward, binary, casts, rows, reductions, moves, products, attention})
      add(suite, type);
  integers(suite);
  int64_t before = argc > 2 ? std::atoll(argv[2]) : 0;
  for (const Case& c : suite.cases())
    if ((argc < 2 || c.op.find(argv[1]) != std::string::npos) && before-- <= 0) count(c);
}
