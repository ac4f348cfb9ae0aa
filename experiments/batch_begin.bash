set -euo pipefail

die() { # STATUS MESSAGE
  printf 'megaup job %s: %s\n' "$SLURM_JOB_ID" "$2" >&2
  exit "$1"
}

[[ -n ${SLURM_JOB_ID:-} ]] || { printf 'this is a batch script of Slurm: start it with sbatch\n' >&2; exit 2; }
