#include "compiler/lower/Offload.h"

#include "compiler/lower/StageWeights.h"

#include <set>

namespace planc::lower {

using program::InstructionKind;

Bytes offloadedBy(const EmitRequest &request, std::size_t unit,
                  ops::BodyId body) {
  const pipeline::StageGraph &stages = *request.stages;
  if (!request.plan->offload.activations || !stages.units[unit].isLayer)
    return Bytes();
  std::size_t last = unit;
  for (std::size_t u = unit + 1; u < stages.units.size(); ++u)
    if (stages.units[u].isLayer)
      last = u;
  if (stages.stages == 1 && last == unit)
    return Bytes();
  return request.bodies->of(unit, body).saved;
}

Bytes fetchedBy(const EmitRequest &request, ops::BodyId body) {
  Bytes bytes;
  if (!request.plan->offload.parameters)
    return bytes;
  std::set<ops::WeightId> seen;
  for (const ops::Value &value :
       request.graph->graph->bodies[body].forward.values) {
    if (value.kind != ops::ValueKind::Weight ||
        !seen.insert(value.weight).second)
      continue;
    const shard::WeightState &state = request.graph->weights[value.weight];
    bytes += Bytes(cutElements(request.plan->mesh, state.localElements,
                               state.parameterState) *
                   bytesOf(request.plan->precision.parameters));
  }
  return bytes;
}

program::Instruction hostCopy(const EmitRequest &request, InstructionKind kind,
                              Bytes bytes) {
  program::Instruction copy;
  copy.kind = kind;
  copy.stream = kind == InstructionKind::HostOut  ? program::Stream::HostOut
                : kind == InstructionKind::HostIn ? program::Stream::HostIn
                                                  : program::Stream::Host;
  copy.message.bytes = bytes;
  copy.message.kind = program::CommunicationKind::Host;
  copy.name = kind == InstructionKind::HostOut  ? "to host"
              : kind == InstructionKind::HostIn ? "from host"
                                                : "update on host";
  copy.clause = copy.origin = request.plan->offload.clause;
  return copy;
}

} // namespace planc::lower
