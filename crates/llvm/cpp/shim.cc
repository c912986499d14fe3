// What LLVM offers in C++ only: registering the pass, running SROA before it, module constructors, what calls do to memory,
// and the function that a place in the source belongs to.

#include "llvm-c/Core.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

extern "C" bool foretell_instrument(LLVMModuleRef Module);

namespace {
struct Instrument : PassInfoMixin<Instrument> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    return foretell_instrument(wrap(&M)) ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

// Local variables whose address is not taken leave memory first: what remains is what other threads could see.
void addTo(ModulePassManager &Passes) {
  Passes.addPass(createModuleToFunctionPassAdaptor(SROAPass(SROAOptions::PreserveCFG)));
  Passes.addPass(Instrument());
}
} // namespace

extern "C" void foretell_register(PassBuilder &Builder) {
  Builder.registerPipelineStartEPCallback([](ModulePassManager &Passes, OptimizationLevel) { addTo(Passes); });
}

extern "C" void foretell_add_constructor(LLVMModuleRef M, LLVMValueRef F) {
  appendToGlobalCtors(*unwrap(M), unwrap<Function>(F), 0);
}

extern "C" bool foretell_touches_memory(LLVMValueRef Call) {
  MemoryEffects Effects = unwrap<CallBase>(Call)->getMemoryEffects();
  return isModOrRefSet(Effects.getModRef(IRMemLocation::ArgMem)) || isModOrRefSet(Effects.getModRef(IRMemLocation::Other));
}

extern "C" const char *foretell_function_of(LLVMMetadataRef Scope, size_t *Length) {
  const DISubprogram *Function = cast<DILocalScope>(unwrap(Scope))->getSubprogram();
  StringRef Name = Function->getLinkageName().empty() ? Function->getName() : Function->getLinkageName();
  *Length = Name.size();
  return Name.data();
}
