# Sourced by the scripts of this folder, from the root of the source tree.

# As many compilers as cores, but no more than fit into memory: the largest sources take about 1.5 GiB each.
build_jobs() {
  local cores memory_kib by_memory
  cores="$(nproc)"
  memory_kib="$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)"
  by_memory=$((memory_kib / 1572864))
  [ "$by_memory" -ge 1 ] || by_memory=1
  echo $((cores < by_memory ? cores : by_memory))
}

# build_preset PRESET "TARGET..." [CMAKE ARGUMENT...]: configures build/PRESET and builds the targets in it, all at once
# so that no core waits between them. The compilers' output goes to a log and is shown only on failure.
build_preset() {
  local preset="$1" log="build/$1.log" started=$SECONDS targets jobs
  read -ra targets <<<"$2"
  shift 2
  jobs="$(build_jobs)"
  mkdir -p build
  echo "-- building ${targets[*]} of preset $preset, $jobs jobs (log: $log)"
  if ! { cmake --preset "$preset" "$@" && cmake --build "build/$preset" --target "${targets[@]}" --parallel "$jobs"; } \
    >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "error: building preset $preset failed; the whole log is $PWD/$log" >&2
    return 1
  fi
  echo "-- built in $((SECONDS - started)) s"
}
