// Names of enumerators in program text, read back. Inverse of the toString
// functions.
#pragma once

#include "runtime/program/ProgramSet.h"

#include <optional>
#include <string_view>

namespace planc::program {

std::optional<InstructionKind> instructionKindFromName(std::string_view name);
std::optional<CommunicationKind>
communicationKindFromName(std::string_view name);
std::optional<Phase> phaseFromName(std::string_view name);
std::optional<Stream> streamFromName(std::string_view name);
std::optional<PassKind> passFromName(std::string_view name);
std::optional<TaskKind> taskKindFromName(std::string_view name);

} // namespace planc::program
