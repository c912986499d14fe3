// What LLVM offers in C++ only: registering the pass, what runs before it, module constructors, what calls do to
// memory, and what debug information tells: functions, types and variables.

#include "llvm-c/Core.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
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

// Types as texts, see crates/wire/src/layout.rs. What is not certain is not told.
namespace {
constexpr size_t LongestLayout = 4096;

void number(std::string &Out, uint64_t Number) { Out += std::to_string(Number) + ";"; }

void name(std::string &Out, StringRef Name) {
  number(Out, Name.size());
  Out.append(Name.data(), Name.size());
}

// The type behind qualifiers, and the last name that it was given on the way.
const DIType *withoutNames(const DIType *Type, StringRef &Name) {
  while (auto *Derived = dyn_cast_or_null<DIDerivedType>(Type)) {
    unsigned Tag = Derived->getTag();
    if (Tag == dwarf::DW_TAG_typedef)
      Name = Derived->getName();
    else if (Tag != dwarf::DW_TAG_const_type && Tag != dwarf::DW_TAG_volatile_type && Tag != dwarf::DW_TAG_atomic_type)
      break;
    Type = Derived->getBaseType();
  }
  return Type;
}

bool isOfLibrary(const DIScope *Scope) {
  StringRef Outermost;
  for (; Scope && !isa<DIFile>(Scope); Scope = Scope->getScope())
    if (auto *Space = dyn_cast<DINamespace>(Scope))
      Outermost = Space->getName();
  return Outermost == "std" || Outermost == "core" || Outermost == "alloc" || Outermost == "__gnu_cxx";
}

bool describe(const DIType *Type, std::string &Out, unsigned Depth);

bool describeFields(const DICompositeType *Of, std::string &Out, unsigned Depth) {
  std::string Fields;
  uint64_t Count = 0;
  for (const DINode *Node : Of->getElements()) {
    auto *Field = dyn_cast_or_null<DIDerivedType>(Node);
    if (!Field) {
      if (auto *Part = dyn_cast_or_null<DICompositeType>(Node); Part && Part->getTag() == dwarf::DW_TAG_variant_part)
        return false;
      continue;
    }
    bool Inherits = Field->getTag() == dwarf::DW_TAG_inheritance;
    if ((Field->getTag() != dwarf::DW_TAG_member && !Inherits) || Field->isStaticMember())
      continue;
    if (Field->isBitField() || Field->isVirtual() || Field->getOffsetInBits() % 8)
      continue;
    number(Fields, Field->getOffsetInBits() / 8);
    name(Fields, Inherits ? StringRef() : Field->getName());
    if (!describe(Field->getBaseType(), Fields, Depth + 1))
      return false;
    Count++;
  }
  number(Out, Count);
  Out += Fields;
  return true;
}

bool describe(const DIType *Type, std::string &Out, unsigned Depth) {
  if (Depth > 12 || Out.size() > LongestLayout)
    return false;
  StringRef Name;
  Type = withoutNames(Type, Name);
  auto *Of = dyn_cast_or_null<DICompositeType>(Type);
  if (Of && !Of->isForwardDecl() && Of->getTag() == dwarf::DW_TAG_array_type && !Of->isVector()) {
    std::string Dimensions;
    for (const DINode *Node : Of->getElements()) {
      auto *Range = dyn_cast_or_null<DISubrange>(Node);
      auto *Count = Range ? dyn_cast_if_present<ConstantInt *>(Range->getCount()) : nullptr;
      if (!Count || Count->isNegative())
        return false;
      Dimensions += "A";
      number(Dimensions, Count->getZExtValue());
    }
    Out += Dimensions;
    return describe(Of->getBaseType(), Out, Depth + 1);
  }
  bool IsStructure = Of && !Of->isForwardDecl() &&
                     (Of->getTag() == dwarf::DW_TAG_structure_type || Of->getTag() == dwarf::DW_TAG_class_type);
  if (IsStructure) {
    std::string Whole = "S";
    number(Whole, Of->getSizeInBits() / 8);
    name(Whole, Of->getName().empty() ? Name : Of->getName());
    number(Whole, isOfLibrary(Of->getScope()));
    if (describeFields(Of, Whole, Depth)) {
      Out += Whole;
      return Out.size() <= LongestLayout;
    }
  }
  Out += "s";
  auto *Pointer = dyn_cast_or_null<DIDerivedType>(Type);
  uint64_t Bits = Type ? Type->getSizeInBits() : 0;
  number(Out, Bits / 8 ? Bits / 8 : Pointer ? 8 : 0);
  return true;
}

// A name as clang gives it to a type of its own: with all scopes, without what templates are instantiated with.
std::string qualified(const DIType *Type, StringRef Name) {
  std::string Whole = Name.split('<').first.str();
  for (const DIScope *Scope = Type->getScope(); Scope && !isa<DIFile>(Scope); Scope = Scope->getScope()) {
    if (isa<DICompileUnit>(Scope))
      break;
    StringRef Part = Scope->getName().split('<').first;
    Whole = (Part.empty() ? "(anonymous namespace)" : Part.str()) + "::" + Whole;
  }
  return Whole;
}

// The structures of a module, by the names that they have in its code.
const StringMap<SmallVector<const DICompositeType *, 1>> &structures(const Module &M) {
  static thread_local const Module *Known = nullptr;
  static thread_local std::string KnownName;
  static thread_local StringMap<SmallVector<const DICompositeType *, 1>> Found;
  if (Known == &M && KnownName == M.getModuleIdentifier())
    return Found;
  Known = &M;
  KnownName = M.getModuleIdentifier();
  Found.clear();
  DebugInfoFinder Finder;
  Finder.processModule(M);
  for (const DIType *Type : Finder.types()) {
    StringRef Name;
    auto *Of = dyn_cast_or_null<DICompositeType>(withoutNames(Type, Name));
    if (!Of || Of->isForwardDecl())
      continue;
    if (Of->getTag() != dwarf::DW_TAG_structure_type && Of->getTag() != dwarf::DW_TAG_class_type)
      continue;
    auto &Same = Found[qualified(Of, Of->getName().empty() ? Name : Of->getName())];
    if (!is_contained(Same, Of))
      Same.push_back(Of);
  }
  return Found;
}

// The layout of a type of the code, if debug information knows exactly one for it.
std::string layoutOf(const StructType *Type, const Module &M) {
  StringRef Name = Type->getName();
  if (!Name.consume_front("struct.") && !Name.consume_front("class."))
    return "";
  StringRef Plain = Name.rtrim("0123456789");
  Name = Plain.size() < Name.size() && Plain.ends_with(".") ? Plain.drop_back() : Name;
  const auto &All = structures(M);
  auto Same = All.find(Name);
  if (Same == All.end())
    return "";
  std::string Only;
  for (const DICompositeType *Of : Same->second) {
    std::string Layout;
    if (Of->getSizeInBits() / 8 != M.getDataLayout().getTypeAllocSize(const_cast<StructType *>(Type)))
      continue;
    if (!describe(Of, Layout, 0) || Layout[0] != 'S' || (!Only.empty() && Only != Layout))
      return "";
    Only = Layout;
  }
  return Only;
}

// The variable of the source that a value is: what the debug information says of it, and of nothing else.
const DILocalVariable *variableOf(Value *V, bool IsPlace) {
  const DILocalVariable *Only = nullptr;
  if (auto *Room = dyn_cast<AllocaInst>(V); Room && IsPlace)
    for (const DbgVariableRecord *Record : at::getDVRAssignmentMarkers(Room)) {
      if (Record->getAddress() != V || Record->getAddressExpression()->getNumElements() || Record->getFragment())
        continue;
      if (Only && Only != Record->getVariable())
        return nullptr;
      Only = Record->getVariable();
    }
  if (Only)
    return Only;
  auto *Local = LocalAsMetadata::getIfExists(V);
  if (!Local)
    return nullptr;
  for (DbgVariableRecord *Record : Local->getAllDbgVariableRecordUsers()) {
    if (Record->isDbgDeclare() != IsPlace || Record->getExpression()->getNumElements() || Record->hasArgList())
      continue;
    if (Only && Only != Record->getVariable())
      return nullptr;
    Only = Record->getVariable();
  }
  return Only;
}
} // namespace

// What the memory behind a pointer is a part of, and where in it: a variable of a function, or an object of a type.
extern "C" bool foretell_object_of(LLVMModuleRef In, LLVMValueRef Pointer, uint64_t *Offset, const char **Layout,
                                   size_t *LayoutLength, const char **Owner, size_t *OwnerLength) {
  static thread_local std::string Text, Name;
  const Module &M = *unwrap(In);
  const DataLayout &Data = M.getDataLayout();
  Value *At = unwrap(Pointer);
  int64_t Bytes = 0;
  bool IsFound = false;
  Text.clear();
  Name.clear();
  for (auto *Step = dyn_cast<GEPOperator>(At); Step; Step = dyn_cast<GEPOperator>(At)) {
    auto *Type = dyn_cast<StructType>(Step->getSourceElementType());
    SmallVector<Value *, 4> Indices(Step->indices());
    bool IsConstant = all_of(drop_begin(Indices), [](Value *Index) { return isa<ConstantInt>(Index); });
    if (Type && Type->hasName() && IsConstant && !Step->getType()->isVectorTy()) {
      Indices[0] = ConstantInt::get(Indices[0]->getType(), 0);
      int64_t Within = Bytes + Data.getIndexedOffsetInType(Type, Indices);
      std::string Found = Within < 0 ? "" : layoutOf(Type, M);
      if (!Found.empty()) {
        Text = Found;
        *Offset = Within;
        IsFound = true;
      }
    }
    APInt More(Data.getIndexTypeSizeInBits(Step->getType()), 0);
    if (Step->getType()->isVectorTy() || !Step->accumulateConstantOffset(Data, More)) {
      At = nullptr;
      break;
    }
    Bytes += More.getSExtValue();
    At = Step->getPointerOperand();
  }
  if (At && isa<GlobalVariable>(At))
    return false;
  if (auto *Room = dyn_cast_or_null<AllocaInst>(At)) {
    const DILocalVariable *Variable = variableOf(Room, true);
    std::string Found;
    if (Variable && !Variable->getName().empty() && Bytes >= 0 && describe(Variable->getType(), Found, 0)) {
      Name = (Variable->getScope()->getSubprogram()->getName() + "::" + Variable->getName()).str();
      Text = Found;
      *Offset = Bytes;
      IsFound = true;
    }
  } else if (At && !IsFound && Bytes >= 0) {
    // References of Rust lead to what their type says.
    const DILocalVariable *Variable = variableOf(At, false);
    auto *Reference = Variable ? dyn_cast_or_null<DIDerivedType>(Variable->getType()) : nullptr;
    std::string Found;
    if (Reference && Reference->getTag() == dwarf::DW_TAG_pointer_type && Reference->getName().starts_with("&") &&
        describe(Reference->getBaseType(), Found, 0) && Found[0] == 'S') {
      Text = Found;
      *Offset = Bytes;
      IsFound = true;
    }
  }
  *Layout = Text.data();
  *LayoutLength = Text.size();
  *Owner = Name.data();
  *OwnerLength = Name.size();
  return IsFound;
}

// The type of a global variable.
extern "C" bool foretell_layout_of(LLVMValueRef Variable, const char **Layout, size_t *Length) {
  static thread_local std::string Text;
  Text.clear();
  SmallVector<DIGlobalVariableExpression *, 1> Known;
  unwrap<GlobalVariable>(Variable)->getDebugInfo(Known);
  if (Known.size() != 1 || Known[0]->getExpression()->getNumElements() ||
      !describe(Known[0]->getVariable()->getType(), Text, 0))
    return false;
  *Layout = Text.data();
  *Length = Text.size();
  return true;
}
