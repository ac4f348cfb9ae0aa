
command -v -- "$program" >/dev/null || die 4 "there is no program $program on $HOSTNAME"

# The spec lies beside the result because all ranks read it. Ranks and time above were chosen for these very bytes.
spec=$result.job-$SLURM_JOB_ID.yaml
trap 'rm -f -- "$spec"' EXIT
write_spec "$spec" || die 4 "cannot write $spec on $HOSTNAME"
digest=$(sha256sum <"$spec")
[[ ${digest%% *} == "$spec_sha256" ]] ||
  die 2 "the spec inside this script was changed: change the spec's own file, and make the script again with megaup slurm"

kept=$result.cells/spec.yaml # there while cells are still to be measured
if [[ -e $kept ]]; then
  cmp -s -- "$spec" "$kept" ||
    die 2 "$result.cells keeps cells of another spec: finish it with megaup resume, remove that folder, or make the script with another --result"
  step=(resume "$result")
else
  step=(run "$spec" -o "$result")
fi

trap : TERM # scancel sends it to this shell too, which must live until the ranks have written what is finished
status=0
"${launch[@]}" "$program" "${step[@]}" || status=$?
if [[ -e $kept ]] && ((status == 3 || status == 5 || status > 128)); then # after 2 and 4 nothing was measured here
  printf 'megaup job %s: not every cell is measured: submit this script again to go on, with sbatch --nodelist=%s: on other nodes all cells are measured anew\n' \
    "$SLURM_JOB_ID" "${SLURM_JOB_NODELIST:-}" >&2
fi
exit "$status"
