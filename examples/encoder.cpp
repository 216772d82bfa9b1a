// encoder MODEL.safetensors [--dtype f32|bf16] [--repeat N] ID...
//
// Embeds a sentence, given as token ids, with a BERT encoder of 12 heads such as all-MiniLM-L6-v2:
// the mean of the last layer's vectors, scaled to length one. Prints the embedding, a number a
// line. An ordinary LibTorch program.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using at::Tensor;

// The tensors of a safetensors file of f32, whose format is: the header's length in 8 bytes, the
// header in JSON, the data (github.com/huggingface/safetensors).
class Weights {
 public:
  Weights(const std::string& path, at::ScalarType type) : type_(type) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot open " + path);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    uint64_t length = 0;
    if (bytes.size() < 8) throw std::runtime_error(path + " is no safetensors file");
    std::memcpy(&length, bytes.data(), 8);
    if (length > bytes.size() - 8) throw std::runtime_error(path + " is cut short");
    const auto header = nlohmann::json::parse(bytes.substr(8, length));
    for (const auto& [name, entry] : header.items())
      if (name != "__metadata__") add(name, entry, std::string_view(bytes).substr(8 + length));
  }

  Tensor operator[](const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw std::runtime_error("the file has no tensor " + name);
    return found->second;
  }
  bool has(const std::string& name) const { return tensors_.count(name) != 0; }

 private:
  void add(const std::string& name, const nlohmann::json& entry, std::string_view data) {
    if (entry.at("dtype") != "F32") return;  // position ids
    const auto shape = entry.at("shape").get<std::vector<int64_t>>();
    const auto place = entry.at("data_offsets").get<std::vector<size_t>>();
    const Tensor t = at::empty(shape, at::kFloat);
    if (place.at(1) > data.size() || place.at(1) - place.at(0) != t.nbytes())
      throw std::runtime_error("tensor " + name + " does not fit its file");
    std::memcpy(t.mutable_data_ptr(), data.data() + place[0], t.nbytes());
    tensors_.emplace(name, t.to(type_));
  }

  at::ScalarType type_;
  std::map<std::string, Tensor> tensors_;
};

class Encoder {
 public:
  explicit Encoder(const Weights& weights) : w_(weights) {}

  // ids (1, L) to the unit vector (H).
  Tensor embed(const Tensor& ids) const {
    Tensor x = embeddings(ids);
    for (int layer = 0; w_.has(name(layer, "output.dense.weight")); ++layer) x = block(x, layer);
    const Tensor mean = x.to(at::kFloat).mean(1).squeeze(0);
    return mean / mean.norm();
  }

 private:
  static constexpr int64_t kHeads = 12;

  static std::string name(int layer, const std::string& part) {
    return "encoder.layer." + std::to_string(layer) + "." + part;
  }
  Tensor linear(const Tensor& x, const std::string& part) const {
    return at::linear(x, w_[part + ".weight"], w_[part + ".bias"]);
  }
  Tensor norm(const Tensor& x, const std::string& part) const {
    return at::layer_norm(x, {x.size(-1)}, w_[part + ".weight"], w_[part + ".bias"], 1e-12);
  }
  Tensor embeddings(const Tensor& ids) const {
    const std::string part = "embeddings.";
    const Tensor positions = at::arange(ids.size(1), at::kLong);
    Tensor x = at::embedding(w_[part + "word_embeddings.weight"], ids);
    x = x + w_[part + "token_type_embeddings.weight"][0];
    x = x + at::embedding(w_[part + "position_embeddings.weight"], positions);
    return norm(x, part + "LayerNorm");
  }
  Tensor heads(const Tensor& x, const std::string& part) const {
    const Tensor y = linear(x, part);
    return y.view({x.size(0), x.size(1), kHeads, -1}).transpose(1, 2);
  }
  Tensor block(const Tensor& x, int layer) const {
    const std::string self = name(layer, "attention.self.");
    const Tensor mixed = at::scaled_dot_product_attention(
        heads(x, self + "query"), heads(x, self + "key"), heads(x, self + "value"));
    const Tensor joined = mixed.transpose(1, 2).reshape(x.sizes());
    const Tensor y = norm(linear(joined, name(layer, "attention.output.dense")) + x,
                          name(layer, "attention.output.LayerNorm"));
    const Tensor wide = at::gelu(linear(y, name(layer, "intermediate.dense")));
    return norm(linear(wide, name(layer, "output.dense")) + y, name(layer, "output.LayerNorm"));
  }

  const Weights& w_;
};

struct Arguments {
  std::string model;
  at::ScalarType type = at::kFloat;
  int repeat = 1;
  std::vector<int64_t> ids;
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--dtype" && i + 1 < argc) {
      const std::string type = argv[++i];
      if (type != "f32" && type != "bf16")
        throw std::runtime_error("--dtype " + type + ": known are f32 and bf16");
      a.type = type == "bf16" ? at::kBFloat16 : at::kFloat;
    } else if (word == "--repeat" && i + 1 < argc) {
      a.repeat = std::atoi(argv[++i]);
    } else if (a.model.empty()) {
      a.model = word;
    } else {
      a.ids.push_back(std::atoll(word.c_str()));
    }
  }
  if (a.ids.empty())
    throw std::runtime_error(
        "usage: encoder MODEL.safetensors [--dtype f32|bf16] [--repeat N] ID...");
  return a;
}

void run(const Arguments& a) {
  const Weights weights(a.model, a.type);
  const Encoder encoder(weights);
  const Tensor ids = at::tensor(a.ids, at::kLong).unsqueeze(0);
  Tensor embedding;
  for (int i = 0; i < a.repeat; ++i) embedding = encoder.embed(ids);
  for (int64_t i = 0; embedding.defined() && i < embedding.numel(); ++i)
    std::printf("%.9g\n", embedding[i].item<float>());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const c10::InferenceMode inference;
    run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "encoder: %s\n", error.what());
    return 1;
  }
}
