#include "runtime/program/Names.h"

#include <array>

namespace planc::program {

namespace {

constexpr auto kInstructions = std::to_array<std::string_view>({
#define PLANC_INSTRUCTION(NAME, TEXT, CLASS) TEXT,
#include "runtime/program/InstructionKinds.def"
});
constexpr auto kClasses = std::to_array<InstructionClass>({
#define PLANC_INSTRUCTION(NAME, TEXT, CLASS) InstructionClass::CLASS,
#include "runtime/program/InstructionKinds.def"
});
constexpr std::array<std::string_view, 9> kCommunications = {
    "none",       "tensor",   "context", "experts", "gradients",
    "parameters", "pipeline", "norm",    "host"};
constexpr std::array<std::string_view, 5> kPhases = {
    "forward", "recompute", "input-gradient", "weight-gradient", "update"};
constexpr std::array<std::string_view, kStreamCount> kStreams = {
    "compute",  "tensor",  "gradients", "parameters", "send",    "recv",
    "host-out", "host-in", "host",      "context",    "experts", "sums"};
constexpr std::array<std::string_view, 4> kPasses = {
    "forward", "backward", "weight-gradient", "update"};
constexpr std::array<std::string_view, 4> kTasks = {"run", "send", "recv",
                                                    "collective"};

template <class E, std::size_t N>
std::string_view nameOf(const std::array<std::string_view, N> &names, E value) {
  return names[static_cast<std::size_t>(value)];
}

template <class E, std::size_t N>
std::optional<E> find(const std::array<std::string_view, N> &names,
                      std::string_view name) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == name)
      return static_cast<E>(i);
  return std::nullopt;
}

} // namespace

std::string_view toString(InstructionKind kind) {
  return nameOf(kInstructions, kind);
}
InstructionClass classOf(InstructionKind kind) {
  return kClasses[static_cast<std::size_t>(kind)];
}
std::string_view toString(CommunicationKind kind) {
  return nameOf(kCommunications, kind);
}
std::string_view toString(Phase phase) { return nameOf(kPhases, phase); }
std::string_view toString(Stream stream) { return nameOf(kStreams, stream); }
std::string_view toString(TaskKind kind) { return nameOf(kTasks, kind); }
std::string_view toString(PassKind kind) { return nameOf(kPasses, kind); }

std::optional<InstructionKind> instructionKindFromName(std::string_view name) {
  return find<InstructionKind>(kInstructions, name);
}
std::optional<CommunicationKind>
communicationKindFromName(std::string_view name) {
  return find<CommunicationKind>(kCommunications, name);
}
std::optional<Phase> phaseFromName(std::string_view name) {
  return find<Phase>(kPhases, name);
}
std::optional<Stream> streamFromName(std::string_view name) {
  return find<Stream>(kStreams, name);
}
std::optional<PassKind> passFromName(std::string_view name) {
  return find<PassKind>(kPasses, name);
}
std::optional<TaskKind> taskKindFromName(std::string_view name) {
  return find<TaskKind>(kTasks, name);
}

} // namespace planc::program
