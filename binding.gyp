# The native targets, all of them for Linux. native/build.mjs runs this file and says how programs are linked.
{
  "variables": {
    # -static-pie or -static where the C library allows it; -pie always works.
    "program_link%": "-pie",
    # Where napi.h lies. Only landlock.node needs it: without it, the programs are still built.
    "node_addon_api%": ""
  },
  "target_defaults": {
    "cflags": ["-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-fstack-protector-strong"],
    "cflags!": ["-Wno-unused-parameter"],
    "cflags_cc!": ["-std=gnu++17", "-std=gnu++20"],
    "cflags_cc": ["-std=c++17", "-fno-exceptions", "-fno-rtti"]
  },
  "conditions": [
    ["OS=='linux'", {
      "targets": [
        {
          "target_name": "landlock-run",
          "type": "executable",
          "win_delay_load_hook": "false",
          "sources": [
            "native/src/acts.cc",
            "native/src/children.cc",
            "native/src/descriptors.cc",
            "native/src/landlock_calls.cc",
            "native/src/landlock_core.cc",
            "native/src/landlock_run.cc",
            "native/src/launch_options.cc",
            "native/src/mounts.cc",
            "native/src/privileges.cc",
            "native/src/report.cc",
            "native/src/seccomp_filter.cc",
            "native/src/signals.cc",
            "native/src/stdio_grants.cc",
            "native/src/streams.cc",
            "native/src/supervise.cc"
          ],
          # It runs before each command: small, and with nothing to load.
          "cflags": ["-Os", "-fPIE", "-ffunction-sections", "-fdata-sections", "-fno-asynchronous-unwind-tables"],
          "cflags!": ["-O3", "-pthread"],
          "ldflags": ["<(program_link)", "-Wl,--gc-sections", "-Wl,-z,relro,-z,now", "-s"],
          "ldflags!": ["-rdynamic", "-pthread"]
        },
        {
          # The binding for Node. Built apart from the programs: see native/build.mjs.
          "target_name": "landlock",
          "type": "loadable_module",
          "sources": ["native/src/binding.cc", "native/src/landlock_calls.cc"],
          "include_dirs": ["<(node_addon_api)"],
          # 8 is what every supported Node has. Without exceptions, since gyp compiles so and errors here are errnos.
          "defines": [
            "NAPI_VERSION=8",
            "NAPI_DISABLE_CPP_EXCEPTIONS",
            "NODE_ADDON_API_ENABLE_MAYBE",
            "NODE_ADDON_API_DISABLE_DEPRECATED"
          ],
          "cflags": ["-ffunction-sections", "-fdata-sections"],
          # libstdc++ stays shared: node needs it anyway, and its static form asks for a newer C library.
          "ldflags": ["-Wl,--gc-sections", "-Wl,-z,relro,-z,now", "-s"]
        },
        {
          # Test only.
          "target_name": "fault-run",
          "type": "executable",
          "win_delay_load_hook": "false",
          "sources": ["native/test/fault_run.c"],
          "cflags": ["-fPIE"],
          "cflags!": ["-pthread"],
          "ldflags": ["<(program_link)", "-s"],
          "ldflags!": ["-rdynamic", "-pthread"]
        }
      ]
    }, {
      "targets": [{ "target_name": "landlock-run", "type": "none" }]
    }]
  ]
}
