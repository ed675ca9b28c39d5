"""The C++ kernel, built into `_kernel`. Only `propagation.engines.native_engine` and the benchmark call it."""
