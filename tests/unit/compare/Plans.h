// A plan that says everything, and changes of it.
#pragma once

#include "compiler/driver/Session.h"

#include <string>
#include <string_view>
#include <vector>

namespace planc::compare {

inline constexpr std::string_view kPlanText = R"(language 1
import std.models.gpt
accelerator chip {
  peak    bf16 = 300TFLOP/s, fp8 = 600TFLOP/s
  memory  79GiB at 2TB/s
  units   108
  power   400W
}
cluster machine {
  accelerator chip
  level node of 8   { link 300GB/s, latency 2us }
  level pod  of 64  { link 25GB/s, latency 5us, oversubscription 2 }
  host_memory 2TiB at 200GB/s
  host_link 25GB/s
  price 2USD/h
}
model small = gpt(layers = 16, hidden = 2048, heads = 16, ffn = 8192, vocab = 51200, context = 2048)
plan base for small on machine[64] {
  batch      64 sequences of 2048 tokens, micro 1 sequence
  mesh       dp = rest, pp = 4, tp = 2
  shard      batch over dp
  shard      heads, ffn, vocab, seq over tp
  shard      optimizer over dp
  pipeline   over pp { schedule Interleaved1F1B, virtual 2 }
  optimizer  adamw { master fp32, moments fp32, clip 1.0 }
  precision  compute = bf16, gradients = fp32
  kernels    attention = flash2
  overlap    gradients, parameters, pipeline
  bucket     25MiB
}
)";

/// One change of the text, and the settings that a person would name.
struct TextChange {
  std::string_view from, to;
  std::vector<std::string> keys;
};

inline const std::vector<TextChange> &changesOfText() {
  static const std::vector<TextChange> kChanges = {
      {"64 sequences", "128 sequences", {"batch.sequences"}},
      {"of 2048 tokens, micro", "of 1024 tokens, micro", {"batch.tokens"}},
      {"micro 1 sequence", "micro 2 sequences", {"batch.micro"}},
      {"micro 1 sequence\n",
       "micro 1 sequence, documents of 512 tokens\n",
       {"batch.documents"}},
      {"tp = 2", "tp = 4", {"mesh.tp"}},
      {"pp = 4", "pp = 2", {"mesh.pp"}},
      {"dp = rest, pp = 4, tp = 2",
       "pp = 4, dp = rest, tp = 2",
       {"mesh.order"}},
      {"heads, ffn, vocab, seq", "heads, ffn, vocab", {"shard.tp"}},
      {"shard      optimizer over dp\n", "", {"state.optimizer"}},
      {"optimizer over dp",
       "optimizer, gradients over dp",
       {"state.gradients"}},
      {"optimizer over dp",
       "optimizer, parameters over dp",
       {"state.parameters"}},
      {"virtual 2", "virtual 4", {"pipeline.virtual"}},
      {"virtual 2", "virtual 2, group 8", {"pipeline.group"}},
      {"virtual 2 }",
       "virtual 2, layers [3, 2, 2, 2, 2, 2, 2, 1] }",
       {"pipeline.layers"}},
      {"schedule Interleaved1F1B", "schedule LoopedBFS", {"pipeline.schedule"}},
      {"bucket     25MiB",
       "bucket     25MiB\n  recompute attention",
       {"recompute"}},
      {"bucket     25MiB",
       "bucket     25MiB\n  recompute all for 2 layers",
       {"recompute"}},
      {"bucket     25MiB", "bucket     25MiB\n  recompute auto", {"recompute"}},
      {"master fp32", "master none", {"optimizer.master"}},
      {"moments fp32", "moments bf16", {"optimizer.moments"}},
      {"clip 1.0", "clip none", {"optimizer.clip"}},
      {"adamw", "adafactor", {"optimizer"}},
      {"compute = bf16", "compute = fp8", {"precision.compute"}},
      {"gradients = fp32", "gradients = bf16", {"precision.gradients"}},
      {"gradients = fp32",
       "gradients = fp32, logits = bf16",
       {"precision.logits"}},
      {"gradients = fp32",
       "gradients = fp32, parameters = fp32",
       {"precision.parameters"}},
      {"gradients = fp32",
       "gradients = fp32, saved = fp8",
       {"precision.saved"}},
      {"gradients = fp32",
       "gradients = fp32, router = fp32",
       {"precision.router"}},
      {"gradients = fp32",
       "gradients = fp32, dispatch = fp8",
       {"precision.dispatch"}},
      {"gradients = fp32",
       "gradients = fp32, attention = fp8",
       {"precision.attention"}},
      {"attention = flash2", "attention = unfused", {"kernels.attention"}},
      {"= flash2", "= flash2, loss = eager", {"kernels.loss"}},
      {"= flash2", "= flash2, norm = unfused", {"kernels.norm"}},
      {"= flash2", "= flash2, elementwise = unfused", {"kernels.elementwise"}},
      {"= flash2",
       "= flash2, accumulation = unfused",
       {"kernels.accumulation"}},
      {"= flash2", "= flash2, graphs = true", {"kernels.graphs"}},
      {"= flash2", "= flash2, modules = megatron", {"kernels.modules"}},
      {"= flash2", "= flash2, gathers = kept", {"kernels.gathers"}},
      {"= flash2", "= flash2, outputs = kept", {"kernels.outputs"}},
      {"= flash2", "= flash2, gradients = apart", {"kernels.gradients"}},
      {"= flash2", "= flash2, update = cast", {"kernels.update"}},
      {"= flash2", "= flash2, norm_weights = apart", {"kernels.norm_weights"}},
      {"= flash2", "= flash2, launches = blocking", {"kernels.launches"}},
      {"parameters, pipeline", "parameters", {"overlap.pipeline"}},
      {"parameters, pipeline",
       "parameters, pipeline, tensor",
       {"overlap.tensor"}},
      {"parameters, pipeline",
       "parameters, pipeline, weights",
       {"overlap.weights"}},
      {"parameters, pipeline",
       "parameters, pipeline, context",
       {"overlap.context"}},
      {"parameters, pipeline",
       "parameters, pipeline, experts",
       {"overlap.experts"}},
      {"gradients, parameters, pipeline",
       "parameters, pipeline",
       {"overlap.gradients"}},
      {"gradients, parameters, pipeline",
       "gradients, pipeline",
       {"overlap.parameters"}},
      {"25MiB", "auto", {"bucket"}},
      {"25MiB", "26214401B", {"bucket"}},
      {"25MiB", "25MiB\n  prefetch 2", {"prefetch"}},
      {"25MiB", "25MiB\n  prefetch auto", {"prefetch"}},
      {"25MiB", "25MiB\n  reshard never", {"reshard"}},
      {"25MiB", "25MiB\n  offload optimizer to host", {"offload.optimizer"}},
      {"25MiB",
       "25MiB\n  offload activations to host",
       {"offload.activations"}},
      {"25MiB", "25MiB\n  offload parameters to host", {"offload.parameters"}},
      {"25MiB", "25MiB\n  freeze table", {"freeze"}},
      {"25MiB", "25MiB\n  target megatron", {"target"}},
      {"25MiB", "25MiB\n  expect mfu >= 1%", {}},
      {"machine[64]", "machine[128]", {"accelerators"}},
      {"layers = 16", "layers = 24", {"model"}},
      {"ffn = 8192", "ffn = 6144", {"model"}},
      {"bf16 = 300TFLOP/s", "bf16 = 301TFLOP/s", {"accelerator.peak bf16"}},
      {"fp8 = 600TFLOP/s", "fp8 = 601TFLOP/s", {"accelerator.peak fp8"}},
      {", fp8 = 600TFLOP/s", "", {"accelerator.peak fp8"}},
      {"79GiB", "80GiB", {"accelerator.memory"}},
      {"2TB/s", "2.1TB/s", {"accelerator.bandwidth"}},
      {"units   108", "units   132", {"accelerator.units"}},
      {"power   400W",
       "power   400W\n  matmul_efficiency 0.7",
       {"accelerator.matmul_efficiency"}},
      {"400W", "500W", {"accelerator.power"}},
      {"link 25GB/s, latency", "link 50GB/s, latency", {"cluster.pod.link"}},
      {"latency 2us", "latency 2.5us", {"cluster.node.latency"}},
      {"latency 2us",
       "latency 2us, in_network_reduction true",
       {"cluster.node.in_network_reduction"}},
      {"latency 2us",
       "latency 2us, efficiency 0.8",
       {"cluster.node.efficiency"}},
      {"oversubscription 2",
       "oversubscription 4",
       {"cluster.pod.oversubscription"}},
      {"of 64  {", "of 32  {", {"cluster.pod.of"}},
      {"host_link 25GB/s", "host_link 30GB/s", {"cluster.host_link"}},
      {"price 2USD/h", "price 3USD/h", {"cluster.price"}},
      {"price 2USD/h", "price 2USD/h\n  reserve 2GiB", {"cluster.reserve"}},
      {"price 2USD/h",
       "price 2USD/h\n  failures 10 per 1d of 1000",
       {"cluster.failures"}},
      {"level node of", "level box of", {"cluster"}},
  };
  return kChanges;
}

/// The text with a change; empty where it has no such place.
inline std::string changed(std::string text, const TextChange &change) {
  const std::size_t at = text.find(change.from);
  if (at == std::string::npos)
    return "";
  return text.replace(at, change.from.size(), change.to);
}

inline driver::Options optionsOf(std::string text, std::size_t firstOrigin) {
  driver::Options options;
  options.file = "test.plan";
  options.text = std::move(text);
  options.firstOrigin = firstOrigin;
  options.asides = driver::Options::Asides::Skipped;
  return options;
}

} // namespace planc::compare
