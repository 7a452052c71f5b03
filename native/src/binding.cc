// landlock.node: the Landlock calls and tables for JavaScript. No policy, and no checks but those that keep memory and
// descriptors safe: addon.ts is the only caller. A call that the kernel refuses returns `{ step, errno }`, as a value.
//
// Where N-API itself fails (no memory, a worker that is being ended), an exception is pending and JavaScript sees that
// in place of the value. That is why results of Set and New are not looked at one by one.
#include <fcntl.h>
#include <napi.h>
#include <sys/prctl.h>

#include <string>

#include "landlock_calls.h"

namespace dsh {
namespace {

// Marks our handles, so that no other external value is taken for one.
constexpr napi_type_tag kRulesetTag = {0x3b1f7c0a5e9d4482, 0x9a6e21d3c7f0b814};

template <typename Value>
void set(Napi::Object object, const char* name, Value value) {
  static_cast<void>(object.Set(name, value).IsJust());
}

template <typename Value>
void append(Napi::Array array, Value value) {
  static_cast<void>(array.Set(array.Length(), value).IsJust());
}

Napi::Value refuse(Napi::Env env) {
  Napi::TypeError::New(env, "landlock.node: wrong arguments").ThrowAsJavaScriptException();
  return env.Undefined();
}

Napi::Value failureValue(Napi::Env env, const Failure& failure) {
  Napi::Object value = Napi::Object::New(env);
  set(value, "step", Napi::String::New(env, failure.step));
  set(value, "errno", Napi::Number::New(env, failure.error));
  return value;
}

Napi::Value outcome(Napi::Env env, const Failure& failure) {
  return failure ? failureValue(env, failure) : env.Undefined();
}

// ---- what arguments hold; false when they are not of that kind

bool readBits(const Napi::Value& value, uint64_t* bits) {
  if (!value.IsBigInt()) return false;
  bool lossless = false;
  *bits = value.As<Napi::BigInt>().Uint64Value(&lossless);
  return lossless;
}

bool readPort(const Napi::Value& value, uint64_t* port) {
  if (!value.IsNumber()) return false;
  const double number = value.As<Napi::Number>().DoubleValue();
  if (!(number >= 0 && number <= 65535)) return false;
  *port = static_cast<uint64_t>(number);
  return static_cast<double>(*port) == number;
}

// Bytes, since a name need not be text. One with a NUL in it would be cut there.
bool readPath(const Napi::Value& value, std::string* path) {
  if (!value.IsBuffer()) return false;
  const Napi::Buffer<char> bytes = value.As<Napi::Buffer<char>>();
  path->assign(bytes.Data(), bytes.Length());
  return path->find('\0') == std::string::npos;
}

bool readRuleset(const Napi::Value& value, UniqueFd** ruleset) {
  if (!value.IsExternal()) return false;
  const Napi::External<UniqueFd> handle = value.As<Napi::External<UniqueFd>>();
  if (!handle.CheckTypeTag(&kRulesetTag)) return false;
  *ruleset = handle.Data();
  return true;
}

// ---- the calls

// probe(): { abi, errata } | { step, errno }
Napi::Value probe(const Napi::CallbackInfo& info) {
  LandlockSupport support;
  if (Failure failure = probeLandlock(&support)) return failureValue(info.Env(), failure);
  Napi::Object value = Napi::Object::New(info.Env());
  set(value, "abi", Napi::Number::New(info.Env(), support.abi));
  set(value, "errata", Napi::Number::New(info.Env(), support.errata));
  return value;
}

// The handle owns the descriptor, which is closed at the latest when the handle is collected or its thread ends.
Napi::Value rulesetHandle(Napi::Env env, UniqueFd&& ruleset) {
  UniqueFd* owned = new UniqueFd(static_cast<UniqueFd&&>(ruleset));
  Napi::External<UniqueFd> handle =
      Napi::External<UniqueFd>::New(env, owned, [](Napi::BasicEnv, UniqueFd* dropped) { delete dropped; });
  if (!handle.IsEmpty()) handle.TypeTag(&kRulesetTag);
  return handle;
}

// createRuleset(fs, net, scoped): handle | { step, errno }
Napi::Value create(const Napi::CallbackInfo& info) {
  RulesetAttr attr = {};
  if (!readBits(info[0], &attr.handledAccessFs) || !readBits(info[1], &attr.handledAccessNet) ||
      !readBits(info[2], &attr.scoped)) {
    return refuse(info.Env());
  }
  UniqueFd ruleset;
  if (Failure failure = createRuleset(attr, &ruleset)) return failureValue(info.Env(), failure);
  return rulesetHandle(info.Env(), static_cast<UniqueFd&&>(ruleset));
}

Failure addPath(const UniqueFd& ruleset, const char* path, uint64_t rights) {
  const UniqueFd target(open(path, O_PATH | O_CLOEXEC));
  if (!target.valid()) return failedNow("open-path", path);
  // Nothing to grant here: the rights that the caller named are not handled on this kernel. That the path exists has
  // been seen all the same, so that a mistake shows on every kernel.
  return rights == 0 ? success() : addPathRule(ruleset, rights, target, path);
}

// addPath(handle, path, rights): undefined | { step, errno }
Napi::Value allowPath(const Napi::CallbackInfo& info) {
  UniqueFd* ruleset = nullptr;
  std::string path;
  uint64_t rights = 0;
  if (!readRuleset(info[0], &ruleset) || !readPath(info[1], &path) || !readBits(info[2], &rights)) {
    return refuse(info.Env());
  }
  return outcome(info.Env(), addPath(*ruleset, path.c_str(), rights));
}

// addPort(handle, port, rights): undefined | { step, errno }
Napi::Value allowPort(const Napi::CallbackInfo& info) {
  UniqueFd* ruleset = nullptr;
  uint64_t port = 0;
  uint64_t rights = 0;
  if (!readRuleset(info[0], &ruleset) || !readPort(info[1], &port) || !readBits(info[2], &rights)) {
    return refuse(info.Env());
  }
  return outcome(info.Env(), rights == 0 ? success() : addPortRule(*ruleset, rights, port));
}

Failure restrict(const UniqueFd& ruleset, uint32_t flags) {
  if (!ruleset.valid()) return failedWith(EBADF, "restrict-self");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failedNow("no-new-privs");
  return enforceRuleset(ruleset, flags);
}

// restrictSelf(handle, flags): undefined | { step, errno }. Sets no_new_privs, which stays when the rest fails.
Napi::Value restrictSelf(const Napi::CallbackInfo& info) {
  UniqueFd* ruleset = nullptr;
  uint64_t flags = 0;
  if (!readRuleset(info[0], &ruleset) || !readBits(info[1], &flags) || flags > UINT32_MAX) return refuse(info.Env());
  return outcome(info.Env(), restrict(*ruleset, static_cast<uint32_t>(flags)));
}

// close(handle): undefined, also for one that is closed.
Napi::Value closeRuleset(const Napi::CallbackInfo& info) {
  UniqueFd* ruleset = nullptr;
  if (!readRuleset(info[0], &ruleset)) return refuse(info.Env());
  *ruleset = UniqueFd();
  return info.Env().Undefined();
}

// ---- the tables

Napi::Object row(Napi::Env env, const char* name, int abi, uint64_t bit) {
  Napi::Object value = Napi::Object::New(env);
  set(value, "name", Napi::String::New(env, name));
  set(value, "abi", Napi::Number::New(env, abi));
  set(value, "bit", Napi::BigInt::New(env, bit));
  return value;
}

template <size_t count>
Napi::Array rows(Napi::Env env, const NamedBit (&bits)[count]) {
  Napi::Array values = Napi::Array::New(env);
  for (const NamedBit& bit : bits) append(values, row(env, bit.name, bit.abi, bit.bit));
  return values;
}

Napi::Array fileRights(Napi::Env env) {
  Napi::Array values = Napi::Array::New(env);
  for (const AccessRight& right : kAccessRights) {
    Napi::Object value = row(env, right.name, right.abi, right.bit);
    set(value, "directoryOnly", Napi::Boolean::New(env, right.target == Target::DirectoryOnly));
    append(values, value);
  }
  return values;
}

Napi::Array releases(Napi::Env env) {
  Napi::Array values = Napi::Array::New(env);
  for (const AbiRelease& release : kAbiReleases) {
    Napi::Object value = Napi::Object::New(env);
    set(value, "abi", Napi::Number::New(env, release.abi));
    set(value, "kernel", Napi::String::New(env, release.kernel));
    append(values, value);
  }
  return values;
}

// tables(): see LandlockTables in tables.ts.
Napi::Value tables(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Napi::Object value = Napi::Object::New(env);
  set(value, "releases", releases(env));
  set(value, "fs", fileRights(env));
  set(value, "net", rows(env, kNetRights));
  set(value, "scopes", rows(env, kScopes));
  set(value, "restrictSelfFlags", rows(env, kRestrictSelfFlags));
  set(value, "addRuleFlags", rows(env, kAddRuleFlags));
  return value;
}

// Every thread that loads the file gets functions of its own; there is no state outside the handles.
Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  set(exports, "probe", Napi::Function::New(env, probe, "probe"));
  set(exports, "tables", Napi::Function::New(env, tables, "tables"));
  set(exports, "createRuleset", Napi::Function::New(env, create, "createRuleset"));
  set(exports, "addPath", Napi::Function::New(env, allowPath, "addPath"));
  set(exports, "addPort", Napi::Function::New(env, allowPort, "addPort"));
  set(exports, "restrictSelf", Napi::Function::New(env, restrictSelf, "restrictSelf"));
  set(exports, "close", Napi::Function::New(env, closeRuleset, "close"));
  return exports;
}

}  // namespace
}  // namespace dsh

static Napi::Object initialize(Napi::Env env, Napi::Object exports) { return dsh::initialize(env, exports); }
NODE_API_MODULE(landlock, initialize)
