// Copies of functions, and the way from a function to its copy.

#include "llvm-c/Core.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace {
// Directives that define nothing and leave the next code where it is.
bool isHarmless(StringRef Directive) {
  static const StringSet<> Harmless = {".align", ".balign", ".p2align", ".byte", ".word",  ".short", ".value",
                                       ".long",  ".int",    ".quad",    ".inst", ".nops"};
  return Harmless.contains(Directive);
}

// Whether what stands before a colon names a symbol. Labels that are numbers do not, nor does an operand.
bool isName(StringRef Label) {
  return !all_of(Label, isDigit) && none_of(Label, isSpace);
}

// Assembly that defines a symbol, or says where the next code goes, can be in a program only once.
bool namesSomething(const CallBase &Call) {
  const auto *Assembly = dyn_cast<InlineAsm>(Call.getCalledOperand());
  if (!Assembly)
    return false;
  StringRef Rest = Assembly->getAsmString();
  while (!Rest.empty()) {
    size_t End = Rest.find_first_of("\n;");
    StringRef Statement = Rest.substr(0, End).trim();
    Rest = End == StringRef::npos ? "" : Rest.drop_front(End + 1);
    for (size_t Colon; (Colon = Statement.find(':')) != StringRef::npos;) {
      if (isName(Statement.substr(0, Colon).trim()))
        return true;
      Statement = Statement.drop_front(Colon + 1).ltrim();
    }
    if (Statement.starts_with(".") && !isHarmless(Statement.take_until(isSpace)))
      return true;
  }
  return false;
}

bool mayBeCopied(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  return !Call || !(isa<CallBrInst>(Call) || Call->cannotDuplicate() || Call->isMustTailCall() || namesSomething(*Call));
}

bool mayBeCopied(const Function &F) {
  bool Addressed = any_of(F, [](const BasicBlock &Block) { return Block.hasAddressTaken(); });
  return !F.isVarArg() && !Addressed && !F.hasFnAttribute(Attribute::AlwaysInline) && !F.isPresplitCoroutine() &&
         !F.hasFnAttribute(Attribute::Naked) && !F.hasFnAttribute(Attribute::NoDuplicate) &&
         all_of(instructions(F), [](const Instruction &I) { return mayBeCopied(I); });
}

// What several modules have is one in the program, and so is the copy.
void placeBeside(const Function &F, Function &Copy) {
  Copy.setComdat(nullptr);
  Copy.setPrefixData(nullptr);
  if (F.hasLinkOnceODRLinkage() || F.hasWeakODRLinkage()) {
    Copy.setLinkage(GlobalValue::LinkOnceODRLinkage);
    Copy.setVisibility(GlobalValue::HiddenVisibility);
    Copy.setComdat(Copy.getParent()->getOrInsertComdat(Copy.getName()));
  } else {
    Copy.setLinkage(GlobalValue::InternalLinkage);
    Copy.setVisibility(GlobalValue::DefaultVisibility);
  }
  Copy.setDLLStorageClass(GlobalValue::DefaultStorageClass);
  Copy.setDSOLocal(true);
  Copy.setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
}

// What a function promises that may have hooks elsewhere holds for calls of its plain body.
void keepPromises(Function &Copy) {
  for (Instruction &I : instructions(Copy))
    if (auto *Call = dyn_cast<CallBase>(&I); Call && Call->getCalledFunction() && !isa<IntrinsicInst>(Call))
      Call->setMemoryEffects(Call->getMemoryEffects());
}
} // namespace

// A copy of a function that nothing calls yet; none if there can be only one of it.
extern "C" LLVMValueRef foretell_copy(LLVMValueRef Of) {
  Function &F = *unwrap<Function>(Of);
  if (!mayBeCopied(F))
    return nullptr;
  ValueToValueMapTy Map;
  Function *Copy = CloneFunction(&F, Map);
  Copy->setName(F.getName() + ".plain");
  placeBeside(F, *Copy);
  keepPromises(*Copy);
  return wrap(Copy);
}

// Whether a call of the function may come to another one than the one in this module.
extern "C" bool foretell_is_interposable(LLVMValueRef F) { return unwrap<Function>(F)->isInterposable(); }

// The function goes on as its copy if the flag is 0.
extern "C" void foretell_turn_into(LLVMValueRef Of, LLVMValueRef To, LLVMValueRef Flag) {
  Function &F = *unwrap<Function>(Of), &Copy = *unwrap<Function>(To);
  BasicBlock &Entry = F.getEntryBlock();
  // Variables of the frame stay in the first block: elsewhere they would be made anew each time.
  BasicBlock::iterator Begin = Entry.getFirstNonPHIOrDbgOrAlloca();
  for (Instruction &I : make_early_inc_range(make_range(Begin, Entry.end())))
    if (auto *Variable = dyn_cast<AllocaInst>(&I); Variable && isa<ConstantInt>(Variable->getArraySize()))
      Variable->moveBefore(Entry, Entry.getFirstInsertionPt());
  BasicBlock *Rest = SplitBlock(&Entry, Entry.getFirstNonPHIOrDbgOrAlloca());
  BasicBlock *Plain = BasicBlock::Create(F.getContext(), "", &F);
  DebugLoc Place;
  if (DISubprogram *Source = F.getSubprogram())
    Place = DILocation::get(F.getContext(), Source->getScopeLine(), 0, Source);

  Entry.getTerminator()->eraseFromParent();
  IRBuilder<> Build(&Entry);
  Build.SetCurrentDebugLocation(Place);
  Value *Records = Build.CreateLoad(Build.getInt8Ty(), unwrap(Flag));
  Build.CreateCondBr(Build.CreateIsNotNull(Records), Rest, Plain);

  Build.SetInsertPoint(Plain);
  SmallVector<Value *> Arguments(make_pointer_range(F.args()));
  CallInst *Call = Build.CreateCall(&Copy, Arguments);
  Call->setTailCallKind(CallInst::TCK_MustTail);
  Call->setCallingConv(F.getCallingConv());
  // Attributes that are part of the interface must be those of the function itself.
  AttributeList Own = F.getAttributes();
  Call->setAttributes(Own.removeFnAttributes(F.getContext()));
  Call->addFnAttr(Attribute::NoInline);
  F.getReturnType()->isVoidTy() ? Build.CreateRetVoid() : Build.CreateRet(Call);
}
