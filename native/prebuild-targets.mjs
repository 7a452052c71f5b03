/**
 * What prebuilds are made for, and what each may be. Facts alone: native/prebuild.mjs makes them, native/prebuild-checks.mjs
 * holds them to it.
 */

/**
 * `gnu` begins the names of Debian's compilers for the machine and `musl` those of its musl folders; `debian` is what
 * Debian calls the machine.
 */
const X64 = { arch: 'x64', gnu: 'x86_64-linux-gnu', musl: 'x86_64-linux-musl', debian: 'amd64' }
const ARM64 = { arch: 'arm64', gnu: 'aarch64-linux-gnu', musl: 'aarch64-linux-musl', debian: 'arm64' }

/**
 * Debian has no libstdc++ for musl, and npm no compiler with one that is kept up (an old zig, repackaged by a third person,
 * is all), so there is nothing to build the addon with. The launcher uses no C++ library.
 */
const NO_MUSL_ADDON = 'neither Debian nor npm has a maintained C++ library for musl'

/** By the name of the folder in native/prebuilds. */
export const TARGETS = {
  'linux-x64': { machine: X64, libc: 'glibc' },
  'linux-arm64': { machine: ARM64, libc: 'glibc' },
  'linux-x64-musl': { machine: X64, libc: 'musl', without: { 'landlock.node': NO_MUSL_ADDON } },
  'linux-arm64-musl': { machine: ARM64, libc: 'musl', without: { 'landlock.node': NO_MUSL_ADDON } },
}

/** Files of a target, and the target in binding.gyp that each comes from. */
export const ARTEFACTS = { 'landlock-run': 'landlock-run', 'landlock.node': 'landlock' }

/**
 * Sizes in bytes, by machine and C library. A file for arm64 begins each of its loaded parts at a multiple of 64 KiB, the
 * page of some of its kernels, and is padded for that: musl's launcher has 82 kB of code and data in it.
 */
export const CEILINGS = {
  x64: {
    glibc: { 'landlock-run': 800_000, 'landlock.node': 150_000 },
    musl: { 'landlock-run': 100_000 },
  },
  arm64: {
    glibc: { 'landlock-run': 800_000, 'landlock.node': 150_000 },
    musl: { 'landlock-run': 150_000 },
  },
}

/**
 * What an addon may ask for. Node 20 itself asks for glibc 2.28 (BUILDING.md of Node), which came with the libstdc++ of
 * GCC 8, so an addon within these keeps no such Node out.
 */
export const ADDON = {
  libraries: ['libstdc++.so.6', 'libm.so.6', 'libgcc_s.so.1', 'libc.so.6', 'ld-linux-aarch64.so.1'],
  versions: { GLIBC: [2, 28], GLIBCXX: [3, 4, 25], CXXABI: [1, 3, 11] },
  exports: ['napi_register_module_v1', 'node_api_module_get_api_version_v1'],
}
