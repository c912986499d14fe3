// What LLVM offers in C++ only: registering the pass, what runs before it, module constructors, what calls do to
// memory, and functions in debug information.

#include "llvm-c/Core.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
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

// Coroutines become the ordinary functions that LLVM makes of them anyway: the thread that resumes one runs a
// function, and what the coroutine keeps is memory like any other.
void splitCoroutines(PassBuilder &Builder, ModulePassManager &Passes) {
  cantFail(Builder.parsePassPipeline(Passes, "coro-cond(coro-early,cgscc(coro-split),coro-cleanup)"));
}

// Local variables whose address is not taken leave memory first: what remains is what other threads could see.
// Functions that stand for instructions become them, and what these are told by constants is settled.
void addTo(PassBuilder &Builder, ModulePassManager &Passes) {
  Passes.addPass(Prepare());
  Passes.addPass(AlwaysInlinerPass());
  Passes.addPass(createModuleToFunctionPassAdaptor(SROAPass(SROAOptions::PreserveCFG)));
  Passes.addPass(createModuleToFunctionPassAdaptor(SCCPPass()));
  splitCoroutines(Builder, Passes);
  Passes.addPass(Instrument());
}
} // namespace

extern "C" void foretell_register(PassBuilder &Builder) {
  Builder.registerPipelineStartEPCallback(
      [&Builder](ModulePassManager &Passes, OptimizationLevel) { addTo(Builder, Passes); });
}

extern "C" void foretell_add_constructor(LLVMModuleRef M, LLVMValueRef F) {
  appendToGlobalCtors(*unwrap(M), unwrap<Function>(F), 0);
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

// The number that a switch compares with for its case at this index. The C interface has this since LLVM 21 only.
extern "C" LLVMValueRef foretell_case_value(LLVMValueRef Switch, unsigned Index) {
  return wrap((unwrap<SwitchInst>(Switch)->case_begin() + Index)->getCaseValue());
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
