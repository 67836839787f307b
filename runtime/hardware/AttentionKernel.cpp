#include "runtime/hardware/AttentionKernel.h"

namespace planc::hardware {

AttentionShares attentionShares(const Accelerator &accelerator,
                                AttentionKernel kernel) {
  const AcceleratorConstants &c = accelerator.constants;
  switch (kernel) {
#define PLANC_FUSED_ATTENTION(NAME, TEXT, FORWARD, BACKWARD)                   \
  case AttentionKernel::NAME:                                                  \
    return {c.FORWARD, c.BACKWARD};
#include "runtime/hardware/AttentionKernels.def"
  case AttentionKernel::Unfused:
    break;
  }
  return {1, 1};
}

bool hasKernel(const Accelerator &accelerator, AttentionKernel kernel) {
  const AttentionShares shares = attentionShares(accelerator, kernel);
  return shares.forward > 0 && shares.backward > 0;
}

AttentionKernel newestKernel(const Accelerator &accelerator) {
  for (std::size_t i = 0; i < kAttentionKernelNames.size(); ++i) {
    const auto kernel = static_cast<AttentionKernel>(i);
    if (kernel != AttentionKernel::Flash1 && hasKernel(accelerator, kernel))
      return kernel;
  }
  return AttentionKernel::Unfused;
}

} // namespace planc::hardware
