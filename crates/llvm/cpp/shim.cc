// What LLVM offers in C++ only: registering the pass, running SROA before it, and module constructors.

#include "llvm-c/Core.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

extern "C" bool foretell_prepare(LLVMModuleRef Module);
extern "C" bool foretell_instrument(LLVMModuleRef Module);

namespace {
struct Prepare : PassInfoMixin<Prepare> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    return foretell_prepare(wrap(&M)) ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

struct Instrument : PassInfoMixin<Instrument> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    return foretell_instrument(wrap(&M)) ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

// Local variables whose address is not taken leave memory first: what remains is what other threads could see.
// Functions that stand for instructions become them, and what these are told by constants is settled.
void addTo(ModulePassManager &Passes) {
  Passes.addPass(Prepare());
  Passes.addPass(AlwaysInlinerPass());
  Passes.addPass(createModuleToFunctionPassAdaptor(SROAPass(SROAOptions::PreserveCFG)));
  Passes.addPass(createModuleToFunctionPassAdaptor(SCCPPass()));
  Passes.addPass(Instrument());
}
} // namespace

extern "C" void foretell_register(PassBuilder &Builder) {
  Builder.registerPipelineStartEPCallback([](ModulePassManager &Passes, OptimizationLevel) { addTo(Passes); });
}

extern "C" void foretell_add_constructor(LLVMModuleRef M, LLVMValueRef F) {
  appendToGlobalCtors(*unwrap(M), unwrap<Function>(F), 0);
}

// Tells the linkage names of the functions that an instruction belongs to in the source: that whose code it is, and those
// into which that one was inlined before us.
extern "C" void foretell_scopes(LLVMValueRef I, void (*Tell)(void *, const char *, size_t), void *To) {
  for (const DILocation *At = unwrap<Instruction>(I)->getDebugLoc().get(); At; At = At->getInlinedAt())
    if (const DISubprogram *Function = At->getScope()->getSubprogram()) {
      StringRef Name = Function->getLinkageName();
      Tell(To, Name.data(), Name.size());
    }
}

// Gives an invoke blocks of its own to go on at, so that what is put there runs only after it.
extern "C" void foretell_own_ways(LLVMValueRef I) {
  auto *Call = unwrap<InvokeInst>(I);
  BasicBlock *From = Call->getParent(), *Unwind = Call->getUnwindDest(), *Normal = Call->getNormalDest();
  if (!Unwind->getUniquePredecessor() && Unwind->isLandingPad()) {
    SmallVector<BasicBlock *, 2> Made;
    SplitLandingPadPredecessors(Unwind, {From}, ".own", ".others", Made);
  }
  if (!Normal->getUniquePredecessor())
    SplitBlockPredecessors(Normal, {From}, ".own");
}
