// What debug information tells of memory: types with their fields, and variables.

#include "llvm-c/Core.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

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

// Fields without names are numbered in Rust, and called `__0` by its compiler only.
StringRef fieldName(const DIDerivedType *Field) {
  StringRef Name = Field->getName(), Digits = Name;
  bool IsNumbered = Digits.consume_front("__") && !Digits.empty() && all_of(Digits, isDigit);
  return IsNumbered ? Digits : Name;
}

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
    name(Fields, Inherits ? StringRef() : fieldName(Field));
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

// The variable of the source that memory of a function is, and nothing else.
const DILocalVariable *variableAt(AllocaInst *Room) {
  const DILocalVariable *Only = nullptr;
  for (const DbgVariableRecord *Record : at::getDVRAssignmentMarkers(Room)) {
    if (Record->getAddress() != Room || Record->getAddressExpression()->getNumElements() || Record->getFragment())
      continue;
    if (Only && Only != Record->getVariable())
      return nullptr;
    Only = Record->getVariable();
  }
  auto *Local = LocalAsMetadata::getIfExists(Room);
  if (Only || !Local)
    return Only;
  for (DbgVariableRecord *Record : Local->getAllDbgVariableRecordUsers()) {
    if (!Record->isDbgDeclare() || Record->getExpression()->getNumElements() || Record->hasArgList())
      continue;
    if (Only && Only != Record->getVariable())
      return nullptr;
    Only = Record->getVariable();
  }
  return Only;
}

const DIType *behindPointer(const DIType *Type);

// The pointer that a type has at an offset.
const DIType *pointerAt(const DIType *Type, uint64_t Bits) {
  for (unsigned Depth = 0; Type && Depth < 12; Depth++) {
    if (isa<DIDerivedType>(Type))
      return Bits == 0 ? Type : nullptr;
    auto *Of = dyn_cast<DICompositeType>(Type);
    if (!Of || Of->getTag() != dwarf::DW_TAG_structure_type)
      return nullptr;
    Type = nullptr;
    for (const DINode *Node : Of->getElements()) {
      auto *Field = dyn_cast_or_null<DIDerivedType>(Node);
      if (!Field || Field->getTag() != dwarf::DW_TAG_member || Field->isStaticMember() || !Field->getBaseType())
        continue;
      uint64_t From = Field->getOffsetInBits(), End = From + Field->getBaseType()->getSizeInBits();
      if (From <= Bits && Bits < End) {
        Type = Field->getBaseType();
        Bits -= From;
        break;
      }
    }
  }
  return nullptr;
}

SmallVector<const DIType *, 2> typesOf(Value *V, unsigned Depth);

// The types of a pointer that is kept in an object: as those of the object say.
void addKept(LoadInst *Load, SmallVectorImpl<const DIType *> &Types, unsigned Depth) {
  const DataLayout &Data = Load->getModule()->getDataLayout();
  APInt Offset(Data.getIndexTypeSizeInBits(Load->getPointerOperandType()), 0);
  Value *From = Load->getPointerOperand()->stripAndAccumulateConstantOffsets(Data, Offset, true);
  if (Depth == 0 || Offset.isNegative())
    return;
  SmallVector<const DIType *, 2> Objects;
  if (auto *Room = dyn_cast<AllocaInst>(From)) {
    if (const DILocalVariable *Variable = variableAt(Room))
      Objects.push_back(Variable->getType());
  } else {
    for (const DIType *Type : typesOf(From, Depth - 1))
      Objects.push_back(behindPointer(Type));
  }
  for (const DIType *Object : Objects)
    if (const DIType *Pointer = pointerAt(Object, Offset.getZExtValue() * 8))
      Types.push_back(Pointer);
}

// The types of a value that debug information knows: of variables that are this value, of what a function returns, and of
// fields.
SmallVector<const DIType *, 2> typesOf(Value *V, unsigned Depth) {
  SmallVector<const DIType *, 2> Types;
  if (auto *Local = LocalAsMetadata::getIfExists(V))
    for (DbgVariableRecord *Record : Local->getAllDbgVariableRecordUsers())
      if (!Record->isDbgDeclare() && !Record->getExpression()->getNumElements() && !Record->hasArgList() &&
          !is_contained(Types, Record->getVariable()->getType()))
        Types.push_back(Record->getVariable()->getType());
  auto *Call = dyn_cast<CallBase>(V);
  const Function *Called = Call ? Call->getCalledFunction() : nullptr;
  const DISubprogram *About = Called ? Called->getSubprogram() : nullptr;
  const DISubroutineType *Signature = About ? About->getType() : nullptr;
  if (Signature && Signature->getTypeArray() && Signature->getTypeArray().size() > 0)
    Types.push_back(Signature->getTypeArray()[0]);
  if (auto *Load = dyn_cast<LoadInst>(V))
    addKept(Load, Types, Depth);
  return Types;
}

// What a value of this type leads to: references, raw pointers and boxes of Rust, and structures that are nothing else.
const DIType *behindPointer(const DIType *Type) {
  for (unsigned Depth = 0; Type && Depth < 8; Depth++) {
    if (auto *Pointer = dyn_cast<DIDerivedType>(Type)) {
      StringRef Name = Pointer->getName();
      bool IsOfRust = Name.starts_with("&") || Name.starts_with("*mut ") || Name.starts_with("*const ") ||
                      Name.starts_with("alloc::boxed::Box<");
      return Pointer->getTag() == dwarf::DW_TAG_pointer_type && IsOfRust ? Pointer->getBaseType() : nullptr;
    }
    auto *Wrapper = dyn_cast<DICompositeType>(Type);
    if (!Wrapper || Wrapper->getTag() != dwarf::DW_TAG_structure_type || Wrapper->isForwardDecl())
      return nullptr;
    Type = nullptr;
    for (const DINode *Node : Wrapper->getElements()) {
      auto *Field = dyn_cast_or_null<DIDerivedType>(Node);
      if (!Field || Field->getTag() != dwarf::DW_TAG_member)
        return nullptr;
      const DIType *Of = Field->getBaseType();
      if (Of && Of->getSizeInBits() == Wrapper->getSizeInBits() && Wrapper->getSizeInBits() != 0)
        Type = Of;
    }
  }
  return nullptr;
}

// The layout of what a pointer leads to. Of several types that it has, one contains the others, or nothing is told.
std::string layoutBehind(Value *Pointer) {
  std::string Largest;
  for (const DIType *Type : typesOf(Pointer, 3)) {
    std::string Layout;
    const DIType *Target = behindPointer(Type);
    if (!Target || !describe(Target, Layout, 0) || Layout[0] != 'S')
      continue;
    if (StringRef(Layout).contains(Largest))
      Largest = Layout;
    else if (!StringRef(Largest).contains(Layout))
      return "";
  }
  return Largest;
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
    const DILocalVariable *Variable = variableAt(Room);
    std::string Found;
    if (Variable && !Variable->getName().empty() && Bytes >= 0 && describe(Variable->getType(), Found, 0)) {
      Name = (Variable->getScope()->getSubprogram()->getName() + "::" + Variable->getName()).str();
      Text = Found;
      *Offset = Bytes;
      IsFound = true;
    }
  } else if (At && !IsFound && Bytes >= 0) {
    std::string Found = layoutBehind(At);
    if (!Found.empty()) {
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
